#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(load) - issue(load) == 2
#: expect events.forwards == 1
#: expect events.rejects_overlap == 0
#
# Bytes 4 to 7 of the eight that the store writes: it has all of them.
    .include "fact.inc"
    begin
    la a1, area
    li a2, -1
    sd a2, 0(a1)
load: lw a3, 4(a1)
    finish
