#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(b) - complete(a) == 0
#: expect events.l1d_merges_spec == 0
#: expect events.l2d_merges_spec == 1
#: expect events.bus_transactions == 8
#
# Two lines of the first cache, one of the second: memory is asked once, for 64 bytes over a bus of 8.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 32(a1)
    finish
