#: run
#: counter misses l1i_misses
#: counter misses_l2 l2i_misses
#: counter translations itlb_misses
#: counter accesses l1i_accesses
#: counter access_misses l1i_access_misses
#: counter l2 l2_accesses
#: counter l2_fetch l2_accesses:fetch
#: counter l2_misses l2_access_misses
#: counter l2_fetch_misses l2_access_misses:fetch
#: counter all cache_accesses
#: counter all_l1i cache_accesses:l1i
#: counter all_l2 cache_accesses:l2
#: counter all_misses cache_access_misses
#: counter all_l1i_misses cache_access_misses:l1i
#: counter all_l2_misses cache_access_misses:l2
#: counter tlb tlb_access_misses
#: counter tlb_fetch tlb_access_misses:fetch
#: counter walks page_walks
#: counter walks_fetch page_walks:fetch
#: counter bus bus_transactions
#: counter bus_reads bus_transactions:read
#: expect count(_start) == 1
#: expect counter.misses == 6
#: expect counter.misses_l2 == 3
#: expect counter.translations == 1
#: expect counter.accesses == 6
#: expect counter.access_misses == 6
#: expect counter.l2 == 6
#: expect counter.l2_fetch == 6
#: expect counter.l2_misses == 3
#: expect counter.l2_fetch_misses == 3
#: expect counter.all == 6 + 6
#: expect counter.all_l1i == 6
#: expect counter.all_l2 == 6
#: expect counter.all_misses == 6 + 3
#: expect counter.all_l1i_misses == 6
#: expect counter.all_l2_misses == 3
#: expect counter.tlb == 1
#: expect counter.tlb_fetch == 1
#: expect counter.walks == 1
#: expect counter.walks_fetch == 1
#: expect counter.bus == 3 * 8
#: expect counter.bus_reads == 3 * 8
#: run l3.size=1M l3.line=128
#: counter misses l1i_misses
#: counter misses_l2 l2i_misses
#: counter l2 l2_access_misses:fetch
#: counter l3 l3_accesses
#: counter l3_fetch l3_accesses:fetch
#: counter l3_misses l3_access_misses
#: counter l3_fetch_misses l3_access_misses:fetch
#: counter all cache_accesses
#: counter all_l3 cache_accesses:l3
#: counter all_misses cache_access_misses
#: counter all_l3_misses cache_access_misses:l3
#: counter bus bus_transactions:read
#: counter from_l2_or_l3 fetch_stalls:l1i
#: counter from_memory fetch_stalls:l2i
#: expect counter.misses == 6
#: expect counter.misses_l2 == 2
#: expect counter.l2 == 3
#: expect counter.l3 == 3
#: expect counter.l3_fetch == 3
#: expect counter.l3_misses == 2
#: expect counter.l3_fetch_misses == 2
#: expect counter.all == 6 + 6 + 3
#: expect counter.all_l3 == 3
#: expect counter.all_misses == 6 + 3 + 2
#: expect counter.all_l3_misses == 2
#: expect counter.bus == 2 * 16
#: expect counter.from_l2_or_l3 == 3 * 9 + 39
#: expect counter.from_memory == 2 * 289
#
# Six lines of code, of eight instructions each, lie in three lines of the second cache and, with one, in two lines of
# the third. All are in one page. None is there before it is asked for, and fetch waits for each: nothing merges. Each
# line of 64 bytes is eight transactions of the bus, one of 128 sixteen. What a line costs fetch is what the caches
# behind the first take: 9 cycles from the second, 30 more from the third, 250 more from memory.
    .include "fact.inc"
    .text
    .balign 128
    begin
    nops 45
    li a0, 0
    li a7, 93
exit: ecall
