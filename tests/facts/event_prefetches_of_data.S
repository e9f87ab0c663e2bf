#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l3.size=1M
#: run l1d.prefetch=next_line l3.line=128
#: counter all prefetches
#: counter l1d prefetches:l1d
#: counter useful useful_prefetches
#: counter useful_l1d useful_prefetches:l1d
#: counter l2 l2_accesses
#: counter l2_load l2_accesses:load
#: counter l2_prefetch l2_accesses:prefetch
#: counter l2_misses l2_access_misses
#: counter l2_misses_load l2_access_misses:load
#: counter l2_misses_prefetch l2_access_misses:prefetch
#: counter l3 l3_accesses
#: counter l3_load l3_accesses:load
#: counter l3_prefetch l3_accesses:prefetch
#: counter l3_misses l3_access_misses
#: counter l3_misses_load l3_access_misses:load
#: counter l3_misses_prefetch l3_access_misses:prefetch
#: expect counter.all == 3
#: expect counter.l1d == 3
#: expect counter.useful == 2
#: expect counter.useful_l1d == 2
#: expect counter.l2 == 2 + 3
#: expect counter.l2_load == 2
#: expect counter.l2_prefetch == 3
#: expect counter.l2_misses == 2 + 1
#: expect counter.l2_misses_load == 2
#: expect counter.l2_misses_prefetch == 1
#: expect counter.l3 == 2 + 1
#: expect counter.l3_load == 2
#: expect counter.l3_prefetch == 1
#: expect counter.l3_misses == 2 + 1
#: expect counter.l3_misses_load == 2
#: expect counter.l3_misses_prefetch == 1
#: run l2.prefetch=next_line
#: counter all prefetches
#: counter l2d prefetches:l2d
#: counter useful useful_prefetches
#: counter useful_l2d useful_prefetches:l2d
#: counter l2 l2_accesses
#: counter l2_load l2_accesses:load
#: counter l2_misses l2_access_misses
#: counter l3_load l3_accesses:load
#: counter l3_prefetch l3_accesses:prefetch
#: counter l3_misses_prefetch l3_access_misses:prefetch
#: expect counter.all == 2
#: expect counter.l2d == 2
#: expect counter.useful == 1
#: expect counter.useful_l2d == 1
#: expect counter.l2 == 4
#: expect counter.l2_load == 4
#: expect counter.l2_misses == 2
#: expect counter.l3_load == 2
#: expect counter.l3_prefetch == 2
#: expect counter.l3_misses_prefetch == 2
#: run l3.prefetch=next_line
#: counter all prefetches
#: counter l3d prefetches:l3d
#: counter useful useful_prefetches
#: counter useful_l3d useful_prefetches:l3d
#: counter l3 l3_accesses
#: counter l3_load l3_accesses:load
#: counter l3_misses l3_access_misses
#: counter bus bus_transactions:read
#: expect counter.all == 2
#: expect counter.l3d == 2
#: expect counter.useful == 1
#: expect counter.useful_l3d == 1
#: expect counter.l3 == 3
#: expect counter.l3_load == 3
#: expect counter.l3_misses == 2
#: expect counter.bus == 4 * 8
#
# Four loads, each after the one before has its data. The first cache's prefetcher: 1056 misses and asks for 1088, whose
# line of the third cache is on its way then; 992 misses and asks for 1024, which the second cache has by now; 1024 is
# the first use of that, and 1056 is there; 1088 is the first use of the first one, and asks for 1120, which the second
# cache has.
# The second cache's has lines of 64 bytes: 1056 misses and asks for 1088; 992 misses, and 1024 came with the first;
# 1024 hits; 1088 is the first use, and asks for 1152. The third cache's asks for the same.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 1056(a1)
    add a1, a1, a2
    ld a2, 992(a1)
    add a1, a1, a2
    ld a2, 1024(a1)
    add a1, a1, a2
    ld a2, 1088(a1)
    finish
