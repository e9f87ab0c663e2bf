#: core pentium
#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run
#: expect events.bus_transactions == 3
#: run l1d.allocate=yes
#: expect events.bus_transactions == 12
#
# Stores to three lines: as it is each goes over the bus by itself; if they brought their lines in, each would be 32 / 8
# transactions, and as many again when the line leaves.
    .include "fact.inc"
    begin
    la a1, area
    sb x0, 0(a1)
    sb x0, 64(a1)
    sb x0, 128(a1)
    fence                   # all have left the store buffer
    finish
