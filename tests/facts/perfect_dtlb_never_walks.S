#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes perfect.dtlb=yes
#: expect complete(load) - issue(load) == 2
#: expect issue(load) - last_issue(load) == 0
#: expect events.rejects_tlb == 0
#: expect events.dtlb_access_misses_spec == 0
#
# A new page costs nothing.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    finish
