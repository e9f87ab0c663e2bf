#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 memory.bytes_per_cycle=4
#: expect issue(b) - issue(a) == 0
#: expect complete(a) - issue(a) == 259
#: expect complete(b) - complete(a) == 8
#: expect events.bus_busy_cycles == 16
#
# A line of 32 bytes takes the bus 8 cycles. The first load: 2 for the cache, 8 - 1 more until its last bytes, 250. The
# second waits for the bus: 8 later.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 128(a1)
    finish
