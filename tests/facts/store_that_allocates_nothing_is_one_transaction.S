#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.allocate=no
#: expect events.bus_reads == 0
#: expect events.bus_writes == 4
#: expect issue(order) - commit(last) == 2
#
# No line comes in, so each store goes over the bus, also the second one to a line: 8 bytes or less are one transaction.
# It leaves the store buffer after a cycle.
    .include "fact.inc"
    begin
    la a1, area
    sd x0, 0(a1)
    sd x0, 8(a1)
    sb x0, 64(a1)
last: sd x0, 128(a1)
order: fence
    finish
