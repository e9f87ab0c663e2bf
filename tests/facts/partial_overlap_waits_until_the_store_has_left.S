#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run perfect.l1d=yes
#: expect issue(load) - issue(store) == 1
#: expect last_issue(load) - commit(store) == 2
#: expect complete(load) - last_issue(load) == 2
#: expect events.rejects_overlap == 1
#: expect events.forwards == 0
#: run
#: expect last_issue(load) - commit(store) == 262
#: expect complete(load) - last_issue(load) == 2
#
# The store has four of the eight bytes. It commits at t, accesses the cache in that cycle and leaves the store buffer
# at t + 1 if it hits, at t + 261 with its line if not. That comes behind issue, so the load goes again a cycle later.
    .include "fact.inc"
    begin
    la a1, area
    li a2, -1
store: sw a2, 0(a1)
load: ld a3, 0(a1)
    finish
