#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes lsq.stores=2
#: expect dispatch(third) - commit(load) == 0
#: expect commit(second) - commit(load) == 0
#: expect commit(third) - dispatch(third) == 3
#
# Two stores behind a load from memory fill their part of the queue. Both commit with the load, four per cycle, and go
# on in the store buffer, where they miss; the third enters in that cycle, issues, completes and commits one cycle after
# the other.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    sd x0, 256(a1)
second: sd x0, 512(a1)
third: sd x0, 768(a1)
    finish
