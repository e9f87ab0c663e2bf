#: set perfect.l1i=yes perfect.itlb=yes
#: run issue.order=in_order
#: expect issue(b) - issue(a) == 20
#: expect issue(c) - issue(b) == 0
#: run
#: expect issue(c) - dispatch(c) == 1
#
# The second division waits for the unit, and in order the addition behind it, though it needs another unit.
    .include "fact.inc"
    begin
    li a1, 1
    nops 3
a:  div a2, a1, a1
b:  div a3, a1, a1
c:  addi a4, x0, 1
    finish
