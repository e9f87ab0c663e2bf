#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: run
#: expect issue(c) - issue(a) == 1
#: run store.unit=store
#: expect issue(c) - issue(a) == 0
#
# Two loads take both units; the younger store computes its address a cycle later, unless stores have a unit of their
# own.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 8(a1)
c:  sd x0, 16(a1)
    finish
