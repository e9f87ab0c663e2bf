#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: run
#: expect issue(b) - issue(a) == 0
#: expect issue(c) - issue(a) == 1
#: run units.load=1
#: expect issue(b) - issue(a) == 1
#: expect issue(c) - issue(a) == 2
#: run l1d.ports=1
#: expect issue(b) - issue(a) == 1
#: expect issue(c) - issue(a) == 2
#: run units.load=3 l1d.ports=0
#: expect issue(c) - issue(a) == 0
#
# Three loads whose address becomes ready at once. Two units and two ports take two of them.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 8(a1)
c:  ld a4, 16(a1)
    finish
