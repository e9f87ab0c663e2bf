#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: counter loads loads
#: counter misses l1d_misses
#: counter accesses l1d_accesses
#: counter accesses_load l1d_accesses:load
#: counter accesses_store l1d_accesses:store
#: counter access_misses l1d_access_misses
#: counter access_misses_load l1d_access_misses:load
#: counter access_misses_store l1d_access_misses:store
#: counter all_l1d cache_accesses:l1d
#: counter all_l1d_misses cache_access_misses:l1d
#: counter dtlb dtlb_misses
#: counter dtlb_load dtlb_load_misses
#: counter dtlb_store dtlb_store_misses
#: counter tlb tlb_access_misses
#: counter tlb_data tlb_access_misses:data
#: counter walks page_walks
#: counter walks_data page_walks:data
#: counter rejects rejects
#: counter rejects_tlb rejects:tlb
#: counter rejected rejected
#: counter reissued reissued
#: counter l2 l2_accesses
#: counter l2_load l2_accesses:load
#: counter l2_store l2_accesses:store
#: counter l2_misses l2_access_misses
#: counter l2_misses_load l2_access_misses:load
#: counter l2_misses_store l2_access_misses:store
#: counter accesses_store_spec l1d_accesses:store:spec
#: counter access_misses_store_spec l1d_access_misses:store:spec
#: counter l2_store_spec l2_accesses:store:spec
#: counter l2_misses_store_spec l2_access_misses:store:spec
#: counter accesses_load_spec l1d_accesses:load:spec
#: counter access_misses_load_spec l1d_access_misses:load:spec
#: counter l2_load_spec l2_accesses:load:spec
#: counter l2_misses_load_spec l2_access_misses:load:spec
#: counter all_l2 cache_accesses:l2
#: counter all_l2_misses cache_access_misses:l2
#: counter source load_sources
#: counter from_l1 load_sources:l1
#: counter misses_l2 l2d_misses
#: counter from_memory load_sources:memory
#: counter from_lower load_sources:lower
#: counter bus bus_transactions:read
#: expect counter.loads == 6
#: expect counter.misses == 4
#: expect counter.accesses == 7 + 5
#: expect counter.accesses_load == 5 + 1 + 1
#: expect counter.accesses_store == 4 + 1
#: expect counter.access_misses == 4 + 3
#: expect counter.access_misses_load == 4
#: expect counter.access_misses_store == 3
#: expect counter.all_l1d == 12
#: expect counter.all_l1d_misses == 7
#: expect counter.dtlb == 3
#: expect counter.dtlb_load == 1
#: expect counter.dtlb_store == 2
#: expect counter.tlb == 3
#: expect counter.tlb_data == 3
#: expect counter.walks == 3
#: expect counter.walks_data == 3
#: expect counter.rejects == 3
#: expect counter.rejects_tlb == 3
#: expect counter.rejected == 3
#: expect counter.reissued == 3
#: expect counter.l2 == 4 + 3
#: expect counter.l2_load == 4
#: expect counter.l2_store == 3
#: expect counter.l2_misses == 3 + 2
#: expect counter.l2_misses_load == 3
#: expect counter.l2_misses_store == 2
#: expect counter.accesses_store_spec == 5
#: expect counter.access_misses_store_spec == 3
#: expect counter.l2_store_spec == 3
#: expect counter.l2_misses_store_spec == 2
#: expect counter.accesses_load_spec == 7
#: expect counter.access_misses_load_spec == 4
#: expect counter.l2_load_spec == 4
#: expect counter.l2_misses_load_spec == 3
#: expect counter.all_l2 == 7
#: expect counter.all_l2_misses == 5
#: expect counter.source == 6
#: expect counter.from_l1 == 2
#: expect counter.misses_l2 == 3
#: expect counter.from_memory == 3
#: expect counter.from_lower == 1
#: expect counter.bus == 5 * 8
#: run l3.size=1M l3.line=128
#: counter loads loads
#: counter misses l1d_misses
#: counter accesses l1d_accesses
#: counter accesses_load l1d_accesses:load
#: counter accesses_store l1d_accesses:store
#: counter access_misses l1d_access_misses
#: counter access_misses_load l1d_access_misses:load
#: counter access_misses_store l1d_access_misses:store
#: counter all_l1d cache_accesses:l1d
#: counter all_l1d_misses cache_access_misses:l1d
#: counter dtlb dtlb_misses
#: counter dtlb_load dtlb_load_misses
#: counter dtlb_store dtlb_store_misses
#: counter tlb tlb_access_misses
#: counter tlb_data tlb_access_misses:data
#: counter walks page_walks
#: counter walks_data page_walks:data
#: counter rejects rejects
#: counter rejects_tlb rejects:tlb
#: counter rejected rejected
#: counter reissued reissued
#: counter l2 l2_accesses
#: counter l2_load l2_accesses:load
#: counter l2_store l2_accesses:store
#: counter l2_misses l2_access_misses
#: counter l2_misses_load l2_access_misses:load
#: counter l2_misses_store l2_access_misses:store
#: counter accesses_store_spec l1d_accesses:store:spec
#: counter access_misses_store_spec l1d_access_misses:store:spec
#: counter l2_store_spec l2_accesses:store:spec
#: counter l2_misses_store_spec l2_access_misses:store:spec
#: counter accesses_load_spec l1d_accesses:load:spec
#: counter access_misses_load_spec l1d_access_misses:load:spec
#: counter l2_load_spec l2_accesses:load:spec
#: counter l2_misses_load_spec l2_access_misses:load:spec
#: counter all_l2 cache_accesses:l2
#: counter all_l2_misses cache_access_misses:l2
#: counter source load_sources
#: counter from_l1 load_sources:l1
#: counter misses_l2 l2d_misses
#: counter from_memory load_sources:memory
#: counter from_lower load_sources:lower
#: counter l3 l3_accesses
#: counter l3_load l3_accesses:load
#: counter l3_store l3_accesses:store
#: counter l3_misses l3_access_misses
#: counter l3_misses_load l3_access_misses:load
#: counter l3_misses_store l3_access_misses:store
#: counter l3_load_spec l3_accesses:load:spec
#: counter l3_misses_load_spec l3_access_misses:load:spec
#: counter all_l3_spec cache_accesses:l3:spec
#: counter all_l3_misses_spec cache_access_misses:l3:spec
#: counter l3_store_spec l3_accesses:store:spec
#: counter l3_misses_store_spec l3_access_misses:store:spec
#: counter all_l3 cache_accesses:l3
#: counter all_l3_misses cache_access_misses:l3
#: counter bus bus_transactions:read
#: expect counter.loads == 6
#: expect counter.misses == 4
#: expect counter.accesses == 7 + 5
#: expect counter.accesses_load == 5 + 1 + 1
#: expect counter.accesses_store == 4 + 1
#: expect counter.access_misses == 4 + 3
#: expect counter.access_misses_load == 4
#: expect counter.access_misses_store == 3
#: expect counter.all_l1d == 12
#: expect counter.all_l1d_misses == 7
#: expect counter.dtlb == 3
#: expect counter.dtlb_load == 1
#: expect counter.dtlb_store == 2
#: expect counter.tlb == 3
#: expect counter.tlb_data == 3
#: expect counter.walks == 3
#: expect counter.walks_data == 3
#: expect counter.rejects == 3
#: expect counter.rejects_tlb == 3
#: expect counter.rejected == 3
#: expect counter.reissued == 3
#: expect counter.l2 == 4 + 3
#: expect counter.l2_load == 4
#: expect counter.l2_store == 3
#: expect counter.l2_misses == 3 + 2
#: expect counter.l2_misses_load == 3
#: expect counter.l2_misses_store == 2
#: expect counter.accesses_store_spec == 5
#: expect counter.access_misses_store_spec == 3
#: expect counter.l2_store_spec == 3
#: expect counter.l2_misses_store_spec == 2
#: expect counter.accesses_load_spec == 7
#: expect counter.access_misses_load_spec == 4
#: expect counter.l2_load_spec == 4
#: expect counter.l2_misses_load_spec == 3
#: expect counter.all_l2 == 7
#: expect counter.all_l2_misses == 5
#: expect counter.source == 6
#: expect counter.from_l1 == 2
#: expect counter.misses_l2 == 2
#: expect counter.from_memory == 2
#: expect counter.from_lower == 2
#: expect counter.l3 == 3 + 2
#: expect counter.l3_load == 3
#: expect counter.l3_store == 2
#: expect counter.l3_misses == 2 + 2
#: expect counter.l3_misses_load == 2
#: expect counter.l3_misses_store == 2
#: expect counter.l3_load_spec == 3
#: expect counter.l3_misses_load_spec == 2
#: expect counter.all_l3_spec == 5
#: expect counter.all_l3_misses_spec == 4
#: expect counter.l3_store_spec == 2
#: expect counter.l3_misses_store_spec == 2
#: expect counter.all_l3 == 5
#: expect counter.all_l3_misses == 4
#: expect counter.bus == 4 * 16
#
# One after the other, a load from memory, from the other half of its line of the second cache, of the first line again,
# of the next line of the second cache (which a third cache with lines of 128 bytes has), and one across two lines that
# are there, which is two accesses; then stores to a line of the first cache, of the second cache, and two to memory,
# one in another page; and an atomic in a third page, which is a load and a store: its store finds what its load
# brought. The fence sees to it that all stores have reached the cache. Each page costs a walk, and an access that walks
# is sent back and issues again; the atomic counts as a store there. Stores of a wrong path never leave, so all paths have
# the same ones.
    .include "fact.inc"
    begin
    la a1, area
    lui a5, 1
    add a5, a5, a1
    lui a6, 2
    add a6, a6, a1
    ld a2, 0(a1)
    add a1, a1, a2
    ld a2, 32(a1)
    add a1, a1, a2
    ld a2, 0(a1)
    add a1, a1, a2
    ld a2, 64(a1)
    add a1, a1, a2
    ld a2, 60(a1)
    add a1, a1, a2
    sd a2, 8(a1)
    sd a2, 96(a1)
    sd a2, 128(a1)
    sd a2, 0(a5)
    amoadd.d a2, a2, (a6)
    fence
    finish
