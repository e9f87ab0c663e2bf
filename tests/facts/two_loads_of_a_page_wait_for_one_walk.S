#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes
#: expect issue(b) - issue(a) == 0
#: expect complete(a) - issue(a) == 32
#: expect complete(b) - complete(a) == 0
#: expect events.dtlb_access_misses_spec == 2
#: expect events.dtlb_walks_spec == 1
#
# Both miss the TLB; the second finds the walk under way.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 64(a1)
    finish
