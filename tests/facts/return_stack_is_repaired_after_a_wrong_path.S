#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0 branch.indirect_bits=0
#: expect events.mispredictions == 1
#: expect events.return_mispredictions == 0
#: expect count(wrong.popped) == 1
#
# While a branch in a function waits for a quotient, its wrong path returns (pops) and calls (pushes over what was
# there). The resolution puts the top of the stack back: the right path's return is predicted.
    .include "fact.inc"
    begin
    li a2, 1
    jal ra, function
popped: jal ra, other       # on the wrong path: pushes
    finish
    .balign 64
function: div a3, a2, a2
    beq a3, a2, right
    ret                     # on the wrong path: pops
right: addi ra, ra, 4       # over the call
    addi ra, ra, -4
    ret
    .balign 64
other: ret
