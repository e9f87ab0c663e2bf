#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(hit) - issue(hit) == 2
#: expect events.l1d_access_misses_spec == 1
#
# The second load depends on the first one's data, so it comes after the line: l1d.latency.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    add a3, a1, a2
hit: ld a4, 8(a3)
    finish
