#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0 div.latency=200
#: counter loads loads
#: counter loads_spec loads:spec
#: counter stores stores
#: counter stores_spec stores:spec
#: counter misses l1d_misses
#: counter misses_spec l1d_misses:spec
#: counter misses_l2 l2d_misses
#: counter misses_l2_spec l2d_misses:spec
#: counter dtlb dtlb_misses
#: counter dtlb_spec dtlb_misses:spec
#: counter dtlb_load dtlb_load_misses
#: counter dtlb_load_spec dtlb_load_misses:spec
#: counter dtlb_store dtlb_store_misses
#: counter dtlb_store_spec dtlb_store_misses:spec
#: counter sources load_sources
#: counter sources_spec load_sources:spec
#: counter from_l1 load_sources:l1:spec
#: counter from_lower load_sources:lower:spec
#: counter from_memory load_sources:memory:spec
#: counter from_store load_sources:store:spec
#: counter forwards forwards
#: counter forwarded forwards:retired
#: counter rejects rejects
#: counter rejected rejected
#: counter reissued reissued
#: counter accesses l1d_accesses
#: counter accesses_spec l1d_accesses:spec
#: counter access_misses l1d_access_misses
#: counter access_misses_spec l1d_access_misses:spec
#: counter accesses_load_spec l1d_accesses:load:spec
#: counter access_misses_load_spec l1d_access_misses:load:spec
#: counter all_l1d_spec cache_accesses:l1d:spec
#: counter all_l1d_misses_spec cache_access_misses:l1d:spec
#: counter all_l2_spec cache_accesses:l2:spec
#: counter all_l2_misses_spec cache_access_misses:l2:spec
#: counter l2_load_spec l2_accesses:load:spec
#: counter l2_misses_load_spec l2_access_misses:load:spec
#: counter l2 l2_accesses
#: counter l2_spec l2_accesses:spec
#: counter l2_misses l2_access_misses
#: counter l2_misses_spec l2_access_misses:spec
#: counter tlb tlb_access_misses
#: counter tlb_spec tlb_access_misses:spec
#: counter tlb_data tlb_access_misses:data:spec
#: counter walks page_walks
#: counter walks_spec page_walks:spec
#: counter walks_data page_walks:data:spec
#: expect complete(wrong.last) < complete(branch)
#: expect counter.loads == 1
#: expect counter.loads_spec == 1 + 5
#: expect counter.stores == 0
#: expect counter.stores_spec == 1
#: expect counter.misses == 1
#: expect counter.misses_spec == 1 + 3
#: expect counter.misses_l2 == 1
#: expect counter.misses_l2_spec == 1 + 2
#: expect counter.dtlb == 1
#: expect counter.dtlb_spec == 1 + 2
#: expect counter.dtlb_load == 1
#: expect counter.dtlb_load_spec == 1 + 1
#: expect counter.dtlb_store == 0
#: expect counter.dtlb_store_spec == 1
#: expect counter.sources == 1
#: expect counter.sources_spec == 1 + 5
#: expect counter.from_l1 == 1
#: expect counter.from_lower == 1
#: expect counter.from_memory == 1 + 2
#: expect counter.from_store == 1
#: expect counter.forwards == 1
#: expect counter.forwarded == 0
#: expect counter.rejects == 1 + 2
#: expect counter.rejected == 1
#: expect counter.reissued == 1 + 2
#: expect counter.accesses == 1
#: expect counter.accesses_spec == 1 + 4
#: expect counter.access_misses == 1
#: expect counter.access_misses_spec == 1 + 3
#: expect counter.accesses_load_spec == 1 + 4
#: expect counter.access_misses_load_spec == 1 + 3
#: expect counter.all_l1d_spec == 1 + 4
#: expect counter.all_l1d_misses_spec == 1 + 3
#: expect counter.all_l2_spec == 1 + 3
#: expect counter.all_l2_misses_spec == 1 + 2
#: expect counter.l2_load_spec == 1 + 3
#: expect counter.l2_misses_load_spec == 1 + 2
#: expect counter.l2 == 1
#: expect counter.l2_spec == 1 + 3
#: expect counter.l2_misses == 1
#: expect counter.l2_misses_spec == 1 + 2
#: expect counter.tlb == 1
#: expect counter.tlb_spec == 1 + 2
#: expect counter.tlb_data == 1 + 2
#: expect counter.walks == 1
#: expect counter.walks_spec == 1 + 2
#: expect counter.walks_data == 1 + 2
#
# The branch waits for five divisions, 1000 cycles. On the right path there is one load, which walks and goes to memory.
# When it has its data, after about 300, its wrong path loads from the second cache, from the first, from memory, and
# from memory in a second page; it stores to a third page, and loads what it stored, which waits for the store's address
# and so for its walk. Of the two pages each costs a walk. The store never leaves.
    .include "fact.inc"
    begin
    la a1, area
    lui a6, 1
    add a6, a6, a1
    lui a7, 2
    add a7, a7, a1
    li a2, 1
    mv a5, a2
    .rept 5
    div a5, a5, a2
    .endr
    ld a3, 0(a1)
branch: beq a5, a2, right
    add a4, a1, a3          # when the load has its data
    add a6, a6, a3
    ld x0, 32(a4)
    ld x0, 0(a4)
    ld x0, 64(a4)
    ld x0, 0(a6)
    sd a2, 0(a7)
last: ld x0, 0(a7)
    ecall                   # the wrong path ends here
right:
    li a0, 0
    li a7, 93
    ecall
