#: set fetch.lines=1
#: set perfect.l1i=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect fetch(b) - fetch(a) == 31
#: expect events.itlb_walks_spec == 2
#: expect cycles_by.fetch.itlb == 60
#: run tlb.walk_latency=100
#: expect fetch(b) - fetch(a) == 101
#
# b is on another page: a cycle to get there, then tlb.walk_latency (30). The first page has cost a walk as well.
    .include "fact.inc"
    begin
a:  j b
    .balign 4096
b:  nop
    finish
