#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes issue.width=2
#: expect issue(b) - issue(a) == 0
#: expect issue(c) - issue(a) == 1
#: expect issue(d) - issue(a) == 1
#: expect issue(e) - issue(a) == 2
#
# A multiplication, a load and three additions wait for one quotient: there is a unit for each, but two issue per cycle.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    div a3, x0, a2          # 0
    add a4, a3, a1
a:  mul a5, a4, a2
b:  ld a6, 0(a4)
c:  addi s1, a4, 1
d:  addi s2, a4, 2
e:  addi s3, a4, 3
    finish
