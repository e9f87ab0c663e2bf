#: set branch.predictor=static branch.btb_entries=0 l3.size=1M l3.line=128
#: counter misses l1i_misses
#: counter misses_spec l1i_misses:spec
#: counter misses_l2 l2i_misses
#: counter misses_l2_spec l2i_misses:spec
#: counter itlb itlb_misses
#: counter itlb_spec itlb_misses:spec
#: counter accesses l1i_accesses
#: counter accesses_spec l1i_accesses:spec
#: counter access_misses l1i_access_misses
#: counter access_misses_spec l1i_access_misses:spec
#: counter l2 l2_accesses
#: counter l2_spec l2_accesses:spec
#: counter l2_misses l2_access_misses
#: counter l2_misses_spec l2_access_misses:spec
#: counter l2_fetch_spec l2_accesses:fetch:spec
#: counter l3 l3_accesses
#: counter l3_spec l3_accesses:spec
#: counter l3_misses l3_access_misses
#: counter l3_misses_spec l3_access_misses:spec
#: counter all cache_accesses
#: counter all_spec cache_accesses:spec
#: counter all_misses cache_access_misses
#: counter all_misses_spec cache_access_misses:spec
#: counter merges merges
#: counter merges_l1i merges:l1i
#: counter merges_l2i merges:l2i
#: counter merges_l3i merges:l3i
#: counter tlb tlb_access_misses
#: counter tlb_spec tlb_access_misses:spec
#: counter walks page_walks
#: counter walks_spec page_walks:spec
#: counter walks_fetch page_walks:fetch:spec
#: counter l2_misses_fetch_spec l2_access_misses:fetch:spec
#: counter l3_fetch_spec l3_accesses:fetch:spec
#: counter l3_misses_fetch_spec l3_access_misses:fetch:spec
#: counter merges_spec merges:spec
#: counter merges_l1i_spec merges:l1i:spec
#: counter merges_l2i_spec merges:l2i:spec
#: counter merges_l3i_spec merges:l3i:spec
#: counter all_l1i_spec cache_accesses:l1i:spec
#: counter all_l2_spec cache_accesses:l2:spec
#: counter all_l3_spec cache_accesses:l3:spec
#: counter all_l1i_misses_spec cache_access_misses:l1i:spec
#: counter all_l2_misses_spec cache_access_misses:l2:spec
#: counter all_l3_misses_spec cache_access_misses:l3:spec
#: counter tlb_fetch_spec tlb_access_misses:fetch:spec
#: counter missed mispredictions
#: counter squashed squashed
#: expect counter.misses == 4
#: expect counter.misses_spec == 4 + 3
#: expect counter.misses_l2 == 4
#: expect counter.misses_l2_spec == 4 + 3
#: expect counter.itlb == 1
#: expect counter.itlb_spec == 1 + 1
#: expect counter.accesses == 5
#: expect counter.accesses_spec == 5 + 3
#: expect counter.access_misses == 4
#: expect counter.access_misses_spec == 4 + 3
#: expect counter.l2 == 3
#: expect counter.l2_spec == 3 + 3
#: expect counter.l2_misses == 3
#: expect counter.l2_misses_spec == 3 + 3
#: expect counter.l2_fetch_spec == 3 + 3
#: expect counter.l3 == 2
#: expect counter.l3_spec == 2 + 3
#: expect counter.l3_misses == 2
#: expect counter.l3_misses_spec == 2 + 3
#: expect counter.all == 5 + 3 + 2
#: expect counter.all_spec == 8 + 6 + 5
#: expect counter.all_misses == 4 + 3 + 2
#: expect counter.all_misses_spec == 7 + 6 + 5
#: expect counter.merges == 1 + 1 + 1
#: expect counter.merges_l1i == 1
#: expect counter.merges_l2i == 1
#: expect counter.merges_l3i == 1
#: expect counter.tlb == 1
#: expect counter.tlb_spec == 1 + 1
#: expect counter.walks == 1
#: expect counter.walks_spec == 1 + 1
#: expect counter.walks_fetch == 1 + 1
#: expect counter.l2_misses_fetch_spec == 3 + 3
#: expect counter.l3_fetch_spec == 2 + 3
#: expect counter.l3_misses_fetch_spec == 2 + 3
#: expect counter.merges_spec == 3
#: expect counter.merges_l1i_spec == 1
#: expect counter.merges_l2i_spec == 1
#: expect counter.merges_l3i_spec == 1
#: expect counter.all_l1i_spec == 8
#: expect counter.all_l2_spec == 6
#: expect counter.all_l3_spec == 5
#: expect counter.all_l1i_misses_spec == 7
#: expect counter.all_l2_misses_spec == 6
#: expect counter.all_l3_misses_spec == 5
#: expect counter.tlb_fetch_spec == 1 + 1
#: expect counter.missed == 4
#: expect counter.squashed == 4
#
# Four branches are mispredicted, and each has a jump as its wrong path, to a line that is in no cache, the last to a
# page that is in no TLB. None of these comes before its branch resolves. The right path then goes to a line that the
# wrong path has already asked for, to the other half of its line of the second cache, to the other half of its line of
# the third, and, at last, back to where it was, which is an access again, and hits. So of the five accesses of the
# right path four miss: one of these merges in the first cache and goes no further, one in the second, one in the third.
# They all wait for memory.
    .include "fact.inc"
    .text
    .balign 4096
    begin
    li a2, 1
    bnez a2, right1
    j wrong1
    .balign 128
wrong1:
    nops 4
right1:
    bnez a2, right2
    j wrong2
    .balign 128
wrong2:
    nops 8
right2:
    bnez a2, right3
    j wrong3
    .balign 128
wrong3:
    nops 16
right3:
    bnez a2, right4
    j wrong4
right4:
    finish
    .balign 4096
wrong4:
    nop
