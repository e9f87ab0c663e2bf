#: set perfect.l1i=yes perfect.itlb=yes
#: run commit.width=2
#: expect commit(n1) - commit(slow) == 0
#: expect commit(n2) - commit(slow) == 1
#: expect commit(n4) - commit(slow) == 2
#: run
#: expect commit(n2) - commit(slow) == 0
#: expect commit(n4) - commit(slow) == 1
#
# What follows a division is complete long before it; then they commit two or four per cycle, the division being the
# first.
    .include "fact.inc"
    begin
    li a1, 1
slow: div a2, a1, a1
n1: nop
n2: nop
    nop
n4: nop
    finish
