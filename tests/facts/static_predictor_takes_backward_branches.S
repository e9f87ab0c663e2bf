#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: expect events.conditional_branches == 15
#: expect events.conditional_mispredictions == 6
#
# Five rounds with a forward branch that is taken (wrong 5 times), a forward one that is not (never wrong), and the
# loop's backward one, taken four times and then not (wrong once).
    .include "fact.inc"
    begin
    li a1, 5
top: beq x0, x0, over
    nop
over: bne x0, x0, over2
    nop
over2: addi a1, a1, -1
    bnez a1, top
    finish
