#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.size=64 l1d.ways=1
#: expect events.bus_reads == 12
#: expect events.bus_writes == 8
#: expect events.bus_transactions == 20
#: expect events.l1d_writebacks == 2
#
# Lines of 32 bytes over a bus of 8: 4 transactions each. Three stores to lines of one set: each brings its line in, and
# the second and the third push out a dirty one. So in the long run 2 x line / bus.width per store.
    .include "fact.inc"
    begin
    la a1, area
    sd x0, 0(a1)
    sd x0, 64(a1)
    sd x0, 128(a1)
    finish
