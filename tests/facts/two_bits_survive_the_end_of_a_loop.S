#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=bimodal
#: expect events.conditional_mispredictions == 3
#
# The inner loop's branch goes taken, taken, not, twice over. Its counter begins at 2, saturates at 3, and falls to 2 at
# the end, which still says taken: one misprediction per loop, not two. The outer branch is wrong at its end.
    .include "fact.inc"
    begin
    li a2, 2
outer: li a1, 3
inner: addi a1, a1, -1
    bnez a1, inner
    addi a2, a2, -1
    bnez a2, outer
    finish
