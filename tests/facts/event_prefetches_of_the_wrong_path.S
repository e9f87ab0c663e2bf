#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0 l1d.line=64
#: set l1d.prefetch=next_line l3.size=1M
#: counter all prefetches
#: counter l2_prefetch l2_accesses:prefetch
#: counter l2_prefetch_spec l2_accesses:prefetch:spec
#: counter l2_misses_prefetch l2_access_misses:prefetch
#: counter l2_misses_prefetch_spec l2_access_misses:prefetch:spec
#: counter l3_prefetch l3_accesses:prefetch
#: counter l3_prefetch_spec l3_accesses:prefetch:spec
#: counter l3_misses_prefetch l3_access_misses:prefetch
#: counter l3_misses_prefetch_spec l3_access_misses:prefetch:spec
#: counter l2 l2_accesses
#: counter l2_spec l2_accesses:spec
#: expect issue(wrong.wrong) < complete(branch)
#: expect counter.all == 2
#: expect counter.l2_prefetch == 1
#: expect counter.l2_prefetch_spec == 1 + 1
#: expect counter.l2_misses_prefetch == 1
#: expect counter.l2_misses_prefetch_spec == 1 + 1
#: expect counter.l3_prefetch == 1
#: expect counter.l3_prefetch_spec == 1 + 1
#: expect counter.l3_misses_prefetch == 1
#: expect counter.l3_misses_prefetch_spec == 1 + 1
#: expect counter.l2 == 2
#: expect counter.l2_spec == 2 + 2
#
# Two loads, the second on the wrong path of a branch that waits for a quotient. Each misses and asks for the next line
# as well, which is in no cache. A prefetch is of the path of the load that it is for.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    div a3, a2, a2
    ld x0, 0(a1)
branch: beq a3, a2, right
wrong: ld x0, 1024(a1)
    ecall                   # the wrong path ends here
right:
    finish
