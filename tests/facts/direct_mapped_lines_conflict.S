#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run l1d.ways=1
#: expect complete(again) - issue(again) == 11
#: run l1d.ways=2
#: expect complete(again) - issue(again) == 2
#
# Two lines 16 KB apart, the size of the cache: with one way they have one place, with two ways both stay.
    .include "fact.inc"
    begin
    la a1, area
    li s1, 16384
    ld a2, 0(a1)            # 0
    add a3, a1, a2
    add a3, a3, s1
    ld a4, 0(a3)            # 0
    add a5, a1, a4
again: ld a6, 0(a5)
    finish
