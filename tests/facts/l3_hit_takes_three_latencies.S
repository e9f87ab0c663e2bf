#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l3.size=1M l3.line=128
#: expect complete(half) - issue(half) == 41
#: expect events.l3d_access_misses_spec == 1
#
# As with the second cache: the first load brings 128 bytes into the third cache and 64 into the second. The upper half
# misses two levels: 2 + 9 + l3.latency 30.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    add a3, a1, a2
half: ld a4, 64(a3)
    finish
