#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect issue(b) - issue(a) == 0
#: expect complete(a) - issue(a) == 261
#: expect complete(b) - complete(a) == 0
#: expect commit(b) - commit(a) == 0
#: expect events.l2d_access_misses_spec == 2
#
# Two load units, eight MSHRs, no limit on bandwidth: both loads wait for memory at the same time.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 128(a1)
    finish
