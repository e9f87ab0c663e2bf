#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.size=64 l1d.ways=1
#: expect events.l1d_writebacks == 1
#: expect events.bus_writes == 0
#: expect complete(again) - issue(again) == 11
#
# The load takes the place of a dirty line, which goes to the second cache and is found there: 2 + 9.
    .include "fact.inc"
    begin
    la a1, area
    sd x0, 0(a1)
    fence                   # the store is in the cache
    ld a2, 64(a1)           # 0
    add a3, a1, a2
again: ld a4, 0(a3)
    finish
