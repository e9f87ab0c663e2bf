#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run
#: expect issue(load) - issue(store) == 1
#: expect complete(load) - issue(load) == 2
#: expect events.forwards == 1
#: expect events.l1d_misses == 0
#: run lsq.forward_latency=5
#: expect complete(load) - issue(load) == 5
#
# The address of the store is known a cycle after its issue; the load goes then, and takes the data from the queue in
# lsq.forward_latency, though the line is in no cache.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 7
store: sd a2, 0(a1)
load: ld a3, 0(a1)
    finish
