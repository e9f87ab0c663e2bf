#: set perfect.itlb=yes perfect.dtlb=yes l1d.write=through l2.size=64 l2.ways=1 l3.size=64 l3.ways=1
#: counter l2 l2_evictions
#: counter l2_clean l2_evictions:clean
#: counter l2_dirty l2_evictions:dirty
#: counter l3 l3_evictions
#: counter l3_clean l3_evictions:clean
#: counter l3_dirty l3_evictions:dirty
#: counter writebacks writebacks
#: counter wrote_l2 writebacks:l2
#: counter wrote_l3 writebacks:l3
#: counter reads bus_transactions:read
#: counter writes bus_transactions:write
#: expect counter.l2 == 3 + 1
#: expect counter.l2_clean == 1 + 2
#: expect counter.l2_dirty == 1
#: expect counter.l3 == 4 + 1
#: expect counter.l3_clean == 1 + 3
#: expect counter.l3_dirty == 1
#: expect counter.writebacks == 1 + 1
#: expect counter.wrote_l2 == 1
#: expect counter.wrote_l3 == 1
#: expect counter.reads == 5 * 8
#: expect counter.writes == 8
#
# The second and third cache have one line each, for code and data. Six lines of code are three lines of these caches: 0, 1 and 2.
# The first half of 0 is fetched; the store brings its line in, which displaces 0 in both, and is written through to the
# second cache, whose line is then dirty. fence.i holds fetch until then. The second half of 0 displaces the clean line of the
# store in the third, and the dirty one in the second, which goes to the third and displaces 0 there. Line 1 displaces
# the dirty line in the third, and it goes to memory, and 0 in the second. Line 2 displaces 1 in both. Five lines came
# from memory.
    .include "fact.inc"
    begin
    la a1, area
    sd a1, 0(a1)
    fence.i
    nops 41
    finish
