#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect complete(load) - issue(load) == 2
#: expect issue(order) - commit(store) == 2
#: expect events.l1d_access_misses_spec == 0
#: expect events.bus_transactions == 0
#
# A load takes l1d.latency; a store leaves the store buffer a cycle after its commit, so that the fence issues another
# one later.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
store: sd x0, 128(a1)
order: fence
    finish
