#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(load) - issue(load) == 2
#: expect events.forwards == 1
#: expect events.l1d_misses == 0
#
# The store covers bytes 4 to 11. The load of bytes 8 to 11 touches none of the eight bytes that the store begins in, and
# gets its data from the store all the same.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 7
    sd a2, 4(a1)
load: lw a3, 8(a1)
    finish
