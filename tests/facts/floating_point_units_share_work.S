#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect issue(b) - issue(a) == 1
#: expect issue(c) - issue(b) == 1
#: expect issue(d) - issue(c) == 12
#: run fpmul.unit=fpu
#: expect issue(d) - issue(a) == 0
#
# Two multiplications and two divisions become ready at once. The one unit that does both takes a multiplication per
# cycle and then a division, which holds it for fpdiv.latency. If any of four units does, all go at once.
    .include "fact.inc"
    begin
    li a1, 4
    fcvt.d.l fa0, a1
    nops 2
a:  fmul.d fa1, fa0, fa0
b:  fmul.d fa2, fa0, fa0
c:  fdiv.d fa3, fa0, fa0
d:  fdiv.d fa4, fa0, fa0
    finish
