#: set perfect.l1i=yes perfect.itlb=yes dtlb.entries=1 dtlb.ways=1 rob.size=1
#: counter all stall_breakdown
#: counter dcache stall_breakdown:dcache
#: counter translation stall_breakdown:translation
#: counter integer stall_breakdown:integer
#: counter hit stall_breakdown:hit
#: expect counter.dcache == 2 * (1 + 30 + 261)
#: expect counter.translation == 1 + 30 + 2 + 1 + 30 + 1
#: expect counter.integer == 7 * 2
#: expect counter.hit == 1 + 2
#: expect counter.all == 6 + 584 + 65 + 14 + 3
#
# One instruction at a time, each with a cycle for its turn. The TLB has one entry, and each of the first four accesses is
# to the other page than the one before. The first two walk and come from memory. The third walks and finds its line in
# the first cache, the fourth, a store, walks and then has its address in a cycle: what both waited for is the walk. The
# last one just hits.
    .include "fact.inc"
    begin
    la a1, area
    lui a5, 1
    add a5, a5, a1
    ld a3, 0(a1)
    ld a3, 0(a5)
    ld a3, 8(a1)
    sd x0, 8(a5)
    ld a3, 16(a5)
    finish
