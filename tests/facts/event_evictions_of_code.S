#: set perfect.itlb=yes l1i.size=64 l2.size=64 l2.ways=1 l3.size=128 l3.ways=1
#: counter l1i l1i_evictions
#: counter l2 l2_evictions
#: counter l2_clean l2_evictions:clean
#: counter l3 l3_evictions
#: counter l3_clean l3_evictions:clean
#: counter writebacks writebacks
#: expect counter.l1i == 6 - 2
#: expect counter.l2 == 3 - 1
#: expect counter.l2_clean == 3 - 1
#: expect counter.l3 == 3 - 2
#: expect counter.l3_clean == 3 - 2
#: expect counter.writebacks == 0
#
# Six lines of code, three of the lower caches, one after another. The first cache has two lines, the second one, the
# third two: all others push one out.
    .include "fact.inc"
    .text
    .balign 128
    begin
    nops 45
    finish
