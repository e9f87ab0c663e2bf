#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0 branch.indirect_bits=0
#: set fetch.branches=16 fetch.buffer=8 frontend.stages=2 rob.size=32
#: expect events.branches_spec > 100
#: expect events.return_mispredictions == 0
#: expect events.mispredictions == 1
#
# A branch in a function waits for memory. Its wrong path calls and comes to branches that are mispredicted as well, one
# after the other, with many branches behind each, far more in all than may be in flight. They must not take the place
# of what is kept for the first one: the return stack is repaired from that.
    .include "fact.inc"
    begin
    li a2, 1
    la a1, area
    jal ra, function
    finish
    .balign 64
function: ld a3, 0(a1)
    beqz a3, right          # forward: predicted as not taken
    jal ra, blocks          # on the wrong path: pushes
blocks:
    .rept 8
    mul a4, a2, a2
    bnez a4, 1f             # mispredicted
    .rept 30
    beqz a2, 1f             # as predicted
    .endr
1:
    .endr
    ebreak                  # the wrong path ends here
right: ret
