#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes
#: run
#: expect last_issue(load) - issue(load) == 30
#: expect complete(load) - issue(load) == 32
#: expect complete(again) - issue(again) == 2
#: expect events.rejects_tlb == 1
#: expect events.dtlb_walks_spec == 1
#: run tlb.walk_latency=100
#: expect complete(load) - issue(load) == 102
#
# The load is sent back and issues again with its translation, tlb.walk_latency later; then it takes its hit. The next
# load of that page finds the translation in the TLB, which costs nothing.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)          # 0
    add a3, a1, a2
again: ld a4, 64(a3)
    finish
