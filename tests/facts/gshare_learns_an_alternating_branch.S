#: set perfect.l1i=yes perfect.itlb=yes
#: run branch.predictor=gshare branch.history_bits=2
#: expect events.conditional_mispredictions == 2
#: run branch.predictor=bimodal
#: expect events.conditional_mispredictions == 21
#: run branch.predictor=hybrid branch.history_bits=2
#: expect events.conditional_mispredictions == 3
#
# 40 rounds; the branch is taken in even ones. Counters begin at 2, weakly taken. A counter by address alone goes 3, 2,
# 3, 2: it always says taken and is wrong 20 times. gshare has the last two outcomes, of this branch in the round before
# and of the loop's: for "taken before" one counter begins with taken, is wrong once, and then says not taken; for "not
# taken before" another stays with taken. The loop's branch is taken 39 times and mispredicted at the end by both. The
# hybrid believes bimodal first: it is wrong once as both are, and once more in the round in which gshare knows better,
# which turns the chooser from 1 to 2. fence.i lets each round's branches commit, and so be learnt, before the next
# round is fetched.
    .include "fact.inc"
    begin
    li a1, 0
    li a2, 40
top: fence.i
    andi a3, a1, 1
    beqz a3, skip
    nop
skip: addi a1, a1, 1
    bne a1, a2, top
    finish
