#: set perfect.itlb=yes l3.size=1M l3.line=64
#: run l1i.prefetch=next_line
#: counter all prefetches
#: counter l1i prefetches:l1i
#: counter useful useful_prefetches
#: counter useful_l1i useful_prefetches:l1i
#: counter l2 l2_accesses
#: counter l2_fetch l2_accesses:fetch
#: counter l2_prefetch l2_accesses:prefetch
#: counter l2_misses l2_access_misses
#: counter l2_misses_fetch l2_access_misses:fetch
#: counter l2_misses_prefetch l2_access_misses:prefetch
#: counter l3_fetch l3_accesses:fetch
#: counter l3_prefetch l3_accesses:prefetch
#: counter l3_misses_prefetch l3_access_misses:prefetch
#: counter accesses cache_accesses
#: counter l2_prefetch_spec l2_accesses:prefetch:spec
#: counter l2_misses_prefetch_spec l2_access_misses:prefetch:spec
#: counter l3_prefetch_spec l3_accesses:prefetch:spec
#: counter l3_misses_prefetch_spec l3_access_misses:prefetch:spec
#: expect counter.all == 6
#: expect counter.l1i == 6
#: expect counter.useful == 5
#: expect counter.useful_l1i == 5
#: expect counter.l2 == 1 + 6
#: expect counter.l2_fetch == 1
#: expect counter.l2_prefetch == 6
#: expect counter.l2_misses == 1 + 6
#: expect counter.l2_misses_fetch == 1
#: expect counter.l2_misses_prefetch == 6
#: expect counter.l3_fetch == 1
#: expect counter.l3_prefetch == 3
#: expect counter.l3_misses_prefetch == 3
#: expect counter.accesses == 6 + 1 + 1
#: expect counter.l2_prefetch_spec == 6
#: expect counter.l2_misses_prefetch_spec == 6
#: expect counter.l3_prefetch_spec == 3
#: expect counter.l3_misses_prefetch_spec == 3
#: run l2.prefetch=next_line
#: counter all prefetches
#: counter l2i prefetches:l2i
#: counter useful useful_prefetches
#: counter useful_l2i useful_prefetches:l2i
#: counter l2_fetch l2_accesses:fetch
#: counter l2_prefetch l2_accesses:prefetch
#: counter l3_fetch l3_accesses:fetch
#: counter l3_prefetch l3_accesses:prefetch
#: counter l3_misses_prefetch l3_access_misses:prefetch
#: expect counter.all == 3
#: expect counter.l2i == 3
#: expect counter.useful == 2
#: expect counter.useful_l2i == 2
#: expect counter.l2_fetch == 6
#: expect counter.l2_prefetch == 0
#: expect counter.l3_fetch == 1
#: expect counter.l3_prefetch == 3
#: expect counter.l3_misses_prefetch == 3
#: run l3.prefetch=next_line
#: counter all prefetches
#: counter l3i prefetches:l3i
#: counter useful useful_prefetches
#: counter useful_l3i useful_prefetches:l3i
#: counter l3_fetch l3_accesses:fetch
#: counter l3_prefetch l3_accesses:prefetch
#: counter bus bus_transactions
#: expect counter.all == 3
#: expect counter.l3i == 3
#: expect counter.useful == 2
#: expect counter.useful_l3i == 2
#: expect counter.l3_fetch == 3
#: expect counter.l3_prefetch == 0
#: expect counter.bus == 4 * 8
#
# Six lines of code, two in each line of the lower caches. The miss of the first, and the first use of each that was
# prefetched, ask for the next: for all five others, and for one behind the end. For the first cache's prefetcher the
# second cache is asked for a line when its other half is on its way, or not at all: all its accesses miss there, and of
# each line one goes on, but for that of the first, which fetch asked for. The prefetchers of the lower caches see three
# lines of their own size, and request one behind the end.
    .include "fact.inc"
    .text
    .balign 128
    begin
    nops 45
    finish
