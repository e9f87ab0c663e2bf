#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.allocate=no
#: expect events.bus_reads == 4
#: expect events.bus_writes == 0
#: expect events.l1d_access_misses_spec == 1
#
# A load has brought the line in (4 transactions); the cache writes back, so a store that hits it stays there.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    fence                   # the line is there
    sd x0, 8(a1)
    finish
