#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run l1d.allocate=no
#: counter l1d l1d_accesses:store
#: counter l1d_misses l1d_access_misses:store
#: counter l2 l2_accesses:store
#: counter l2_misses l2_access_misses:store
#: counter load l2_accesses:load
#: counter merges merges
#: counter reads bus_transactions:read
#: counter writes bus_transactions:write
#: expect counter.l1d == 4
#: expect counter.l1d_misses == 3
#: expect counter.l2 == 3
#: expect counter.l2_misses == 2
#: expect counter.load == 1
#: expect counter.merges == 0
#: expect counter.reads == 8
#: expect counter.writes == 2
#: run l1d.write=through
#: counter l1d l1d_accesses:store
#: counter l1d_misses l1d_access_misses:store
#: counter l2 l2_accesses:store
#: counter l2_misses l2_access_misses:store
#: counter load l2_accesses:load
#: counter merges merges
#: counter merges_l1d merges:l1d
#: counter merges_l2d merges:l2d
#: counter reads bus_transactions:read
#: counter writes bus_transactions:write
#: expect counter.l1d == 4
#: expect counter.l1d_misses == 3
#: expect counter.l2 == 1 + 2 + 2 + 1
#: expect counter.l2_misses == 2 + 1
#: expect counter.load == 1
#: expect counter.merges == 1 + 2
#: expect counter.merges_l1d == 1
#: expect counter.merges_l2d == 2
#: expect counter.reads == 2 * 8
#: expect counter.writes == 0
#
# After a load of the first line there are four stores: to that line, to the other half of its line of the second cache,
# and two to one line of memory. If a miss brings no line in, the second store ends in the second cache, and each of the
# last two misses that as well and is a transaction of its own.
# If all is written through, and misses bring lines in, each store is an access to the second cache, and the second and
# the third are another for their line. The last finds its line under way in both caches, as the third did in the second
# when it was written: what is under way is a merged miss.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    fence
    sd a2, 8(a1)
    sd a2, 32(a1)
    sd a2, 128(a1)
    sw a2, 136(a1)
    fence
    finish
