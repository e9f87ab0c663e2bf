#: set perfect.l1i=yes perfect.itlb=yes perfect.units=yes
#: expect issue(b) - issue(a) == 1
#: expect issue(c) - issue(a) == 2
#: expect complete(c) - issue(c) == 1
#: expect issue(root) - issue(convert) == 1
#: expect complete(root) - issue(root) == 1
#
# Divisions and roots take one cycle and leave their unit free for the next. There is still one unit: a and b are ready
# together and issue a cycle apart; c has its operand from a as b issues, and goes behind that.
    .include "fact.inc"
    begin
    li a1, 4
    nops 3
a:  div a2, a1, a1
b:  div a3, a1, a1
c:  div a4, a2, a1
convert: fcvt.d.l fa0, a1
root: fsqrt.d fa1, fa0
    finish
