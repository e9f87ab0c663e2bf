#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l2d=yes
#: expect complete(load) - issue(load) == 11
#: expect issue(order) - commit(store) == 12
#: expect events.l1d_access_misses_spec == 2
#: expect events.l2d_access_misses_spec == 0
#: expect events.bus_transactions == 0
#
# 2 + 9 to any line that the first cache lacks, for a store as well, which leaves the store buffer then; the fence goes
# a cycle later.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
store: sd x0, 128(a1)
order: fence
    finish
