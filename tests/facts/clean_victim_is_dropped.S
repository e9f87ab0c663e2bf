#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.size=64 l1d.ways=1
#: expect events.bus_reads == 12
#: expect events.bus_writes == 0
#: expect complete(again) - issue(again) == 252
#
# Three loads of two lines that take each other's place: three times 4 transactions, nothing to write.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    add a3, a1, a2
    ld a4, 64(a3)           # 0
    add a5, a3, a4
again: ld a6, 0(a5)
    finish
