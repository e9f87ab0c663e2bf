#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.mshrs=1
#: expect issue(hit) - issue(miss) == 0
#: expect complete(miss) - issue(miss) == 261
#: expect complete(hit) - issue(hit) == 2
#: expect events.rejects_mshr == 0
#
# A hit needs no MSHR, and no hit waits for a miss.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    add a3, a1, a2
miss: ld a4, 128(a3)
hit: ld a5, 8(a3)
    finish
