#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run
#: expect complete(half) - issue(half) == 11
#: expect events.l1d_access_misses_spec == 2
#: expect events.l2d_access_misses_spec == 1
#: run l2.latency=20
#: expect complete(half) - issue(half) == 22
#
# A line of the second cache has 64 bytes, one of the first 32: the first load brings all 64 into the second cache, so
# the second half misses the first cache only: 2 + l2.latency.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    add a3, a1, a2
half: ld a4, 32(a3)
    finish
