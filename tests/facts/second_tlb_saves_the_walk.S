#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes dtlb.entries=1 dtlb.ways=1 l2tlb.entries=64
#: expect last_issue(first) - issue(first) == 37
#: expect last_issue(other) - issue(other) == 37
#: expect last_issue(again) - issue(again) == 7
#: expect complete(again) - issue(again) == 9
#: expect events.dtlb_access_misses_spec == 3
#: expect events.dtlb_walks_spec == 2
#
# Two new pages: both TLBs miss, l2tlb.latency 7 + 30. Each takes the only entry of the first TLB, so that the first
# page is then in the second TLB only: 7.
    .include "fact.inc"
    begin
    la a1, area
    li s1, 4096
first: ld a2, 0(a1)         # 0
    add a3, a1, a2
    add a3, a3, s1
other: ld a4, 0(a3)         # 0
    add a5, a1, a4
again: ld a6, 64(a5)
    finish
