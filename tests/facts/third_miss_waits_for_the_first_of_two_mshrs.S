#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.mshrs=2 l1d.ports=3 units.load=3
#: expect issue(c) - issue(a) == 0
#: expect complete(b) - complete(a) == 0
#: expect last_issue(c) - issue(a) == 261
#: expect complete(c) - issue(a) == 522
#: expect events.rejects_mshr == 1
#
# Three units and ports: all three loads issue as their common address register is ready. Two lines may be on the way.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 128(a1)
c:  ld a4, 256(a1)
    finish
