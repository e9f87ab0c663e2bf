#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes dtlb.entries=1 dtlb.ways=1 l2tlb.entries=16
#: counter tlb tlb_access_misses:data
#: counter walks page_walks:data
#: counter dtlb dtlb_misses
#: counter dtlb_load dtlb_load_misses
#: counter dtlb_store dtlb_store_misses
#: counter rejects rejects:tlb
#: counter rejected rejected
#: counter reissued reissued
#: expect counter.tlb == 1 + 1 + 1 + 2
#: expect counter.walks == 1 + 1 + 1
#: expect counter.dtlb == 1 + 1 + 2
#: expect counter.dtlb_load == 1 + 1 + 1
#: expect counter.dtlb_store == 1
#: expect counter.rejects == 1 + 1 + 1 + 2
#: expect counter.rejected == 5
#: expect counter.reissued == 5
#
# The first TLB has one entry. The first two loads walk, for a page each. The third is of the first page again, which
# the second TLB has: it misses the first TLB and waits, but for no walk. The last load and the store are of a third
# page: both wait for one walk.
    .include "fact.inc"
    begin
    la a1, area
    lui a5, 1
    add a5, a5, a1
    lui a6, 2
    add a6, a6, a1
    ld a2, 0(a1)
    add a5, a5, a2
    ld a2, 0(a5)
    add a1, a1, a2
    ld a2, 0(a1)
    add a6, a6, a2
    ld a2, 0(a6)
    sd x0, 64(a6)
    fence
    finish
