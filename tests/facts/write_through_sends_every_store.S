#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.size=64 l1d.ways=1
#: run l1d.write=through
#: expect events.bus_reads == 8
#: expect events.bus_writes == 3
#: expect events.l1d_writebacks == 0
#: run
#: expect events.bus_reads == 8
#: expect events.bus_writes == 4
#: expect events.l1d_writebacks == 1
#
# A load brings a line in, three stores hit it, another load takes its place. Through: each store goes over the bus, the
# line stays clean and is dropped. Back: nothing until the line leaves, then 32 bytes.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    fence
    sd x0, 0(a1)
    sd x0, 8(a1)
    sd x0, 16(a1)
    fence                   # the stores are in the cache
    ld a3, 64(a1)
    finish
