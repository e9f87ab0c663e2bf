#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0 units.muldiv=2
#: expect dispatch(wrong.other) < complete(branch)
#: expect dispatch(use) < complete(producer)
#: expect issue(use) == complete(producer)
#
# While a quotient is computed, a branch that waits for products is mispredicted, and its wrong path renames the
# quotient's register. After the resolution the register is mapped to the quotient again: its readers wait for the
# division.
    .include "fact.inc"
    begin
    li a2, 1
producer: div a0, a2, a2
    mul a3, a2, a2
    mul a3, a3, a3
    mul a3, a3, a3
branch: beq a3, a2, right   # forward: predicted as not taken
other: li a0, 5             # on the wrong path
    nops 24
right: nop
use: addi a1, a0, 1
    finish
