#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0 div.latency=200
#: counter all branches
#: counter all_spec branches:spec
#: counter conditional branches:conditional:spec
#: counter jump branches:jump:spec
#: counter call branches:call:spec
#: counter indirect branches:indirect:spec
#: counter ret branches:return:spec
#: counter conditionals conditional_branches
#: counter conditionals_spec conditional_branches:spec
#: counter were_taken conditional_branches:taken:spec
#: counter were_not_taken conditional_branches:not_taken:spec
#: counter taken taken_branches
#: counter taken_spec taken_branches:spec
#: counter taken_conditional taken_branches:conditional
#: counter taken_jump taken_branches:jump
#: counter taken_call taken_branches:call
#: counter taken_indirect taken_branches:indirect
#: counter taken_return taken_branches:return
#: counter taken_conditional_spec taken_branches:conditional:spec
#: counter not_taken not_taken_branches
#: counter not_taken_spec not_taken_branches:spec
#: counter calls calls
#: counter calls_spec calls:spec
#: counter calls_direct calls:direct
#: counter calls_indirect calls:indirect
#: counter calls_direct_spec calls:direct:spec
#: counter returns returns
#: counter returns_spec returns:spec
#: counter indirects indirect_branches
#: counter indirects_spec indirect_branches:spec
#: counter missed mispredictions
#: counter missed_spec mispredictions:spec
#: counter missed_conditional mispredictions:conditional
#: counter missed_indirect mispredictions:indirect
#: counter missed_return mispredictions:return
#: counter missed_return_spec mispredictions:return:spec
#: counter conditional_missed conditional_mispredictions
#: counter conditional_missed_spec conditional_mispredictions:spec
#: counter return_missed return_mispredictions
#: counter return_missed_spec return_mispredictions:spec
#: counter indirect_missed indirect_mispredictions
#: counter indirect_missed_spec indirect_mispredictions:spec
#: counter taken_jump_spec taken_branches:jump:spec
#: counter taken_call_spec taken_branches:call:spec
#: counter taken_indirect_spec taken_branches:indirect:spec
#: counter taken_return_spec taken_branches:return:spec
#: counter calls_indirect_spec calls:indirect:spec
#: counter missed_conditional_spec mispredictions:conditional:spec
#: counter missed_indirect_spec mispredictions:indirect:spec
#: counter squashed squashed
#: expect count(wrong.end_of_wrong_path) == 1
#: expect complete(wrong.end_of_wrong_path) < complete(outer)
#: expect counter.all == 28
#: expect counter.all_spec == 28 + 9
#: expect counter.conditional == 5 + 3
#: expect counter.jump == 8 + 1
#: expect counter.call == 6 + 2
#: expect counter.indirect == 4 + 1
#: expect counter.ret == 5 + 2
#: expect counter.conditionals == 5
#: expect counter.conditionals_spec == 5 + 3
#: expect counter.were_taken == 3 + 1
#: expect counter.were_not_taken == 2 + 2
#: expect counter.taken == 3 + 8 + 6 + 4 + 5
#: expect counter.taken_spec == 28 - 2 + 7
#: expect counter.taken_conditional == 3
#: expect counter.taken_jump == 8
#: expect counter.taken_call == 6
#: expect counter.taken_indirect == 4
#: expect counter.taken_return == 5
#: expect counter.taken_conditional_spec == 3 + 1
#: expect counter.not_taken == 2
#: expect counter.not_taken_spec == 2 + 2
#: expect counter.calls == 6 + 2
#: expect counter.calls_spec == 8 + 2
#: expect counter.calls_direct == 6
#: expect counter.calls_indirect == 2
#: expect counter.calls_direct_spec == 6 + 2
#: expect counter.returns == 5
#: expect counter.returns_spec == 5 + 2
#: expect counter.indirects == 4
#: expect counter.indirects_spec == 4 + 1
#: expect counter.missed == 2 + 3 + 1
#: expect counter.missed_spec == 6 + 3
#: expect counter.missed_conditional == 2
#: expect counter.missed_indirect == 3
#: expect counter.missed_return == 1
#: expect counter.missed_return_spec == 1 + 1
#: expect counter.conditional_missed == 2
#: expect counter.conditional_missed_spec == 2 + 1
#: expect counter.return_missed == 1
#: expect counter.return_missed_spec == 1 + 1
#: expect counter.indirect_missed == 3
#: expect counter.indirect_missed_spec == 3 + 1
#: expect counter.taken_jump_spec == 8 + 1
#: expect counter.taken_call_spec == 6 + 2
#: expect counter.taken_indirect_spec == 4 + 1
#: expect counter.taken_return_spec == 5 + 2
#: expect counter.calls_indirect_spec == 2
#: expect counter.missed_conditional_spec == 2 + 1
#: expect counter.missed_indirect_spec == 3 + 1
#: expect counter.squashed == 9 + 2
#
# Each number of the right path is followed by that of the wrong path of `outer`, which waits for a division; by then
# the wrong path has come to its end, and its own mispredictions are resolved. Where any other misprediction leads
# stands a system call, so that nothing is fetched there. There is no BTB: direct targets are known, others are
# predicted by the return stack or not at all.
# The right path: two forward branches that are not taken, a backward one that is, as predicted, and two forward ones
# that are, mispredicted (`outer` is one of them). Eight jumps. Five calls, of which the last returns elsewhere than it
# was called from, and a sixth by another link register, whose function returns by a call: for the return stack both,
# and here an indirect call. Two jumps and a call through a register without a prediction.
# The wrong path: a branch taken, mispredicted, and two that are not; a jump; two calls, one of which returns elsewhere;
# a jump through a register. Two more of its instructions are no control transfers.
    .include "fact.inc"
    begin
    li a2, 1
    la s2, returned
    la s3, jumped
    la s4, called
    la s5, wrong_returned
    la s6, end_of_wrong_path
    la s7, jumped_again
    beqz a2, end
    beqz s2, end
    j 3f
4:  j 5f
3:  bnez a2, 4b
    ecall
5:  bnez a2, 6f
    ecall
6:  jal ra, plain
    jal ra, plain
    jal ra, plain
    jal ra, plain
    jal ra, crooked
    ecall
returned:
    jr s3
    ecall
jumped:
    jr s7
    ecall
jumped_again:
    .rept 6
    j . + 4
    .endr
    jalr ra, s4
    ecall
called:
    jal t0, coroutine
    div a3, a2, a2
outer: beq a3, a2, right
    bnez x0, end
    beqz a2, end
    beqz x0, 7f
    ecall
7:  j 8f
    ecall
8:  jal ra, plain
    jal ra, wrong_crooked
    ecall
wrong_returned:
    jr s6
    ecall
end_of_wrong_path: nop
    ecall
right:
end:
    finish
plain:
    ret
crooked:
    mv ra, s2
    ret
wrong_crooked:
    mv ra, s5
    ret
coroutine:
    jalr ra, t0
