#: set fetch.lines=1
#: set perfect.l1i=yes branch.predictor=static branch.btb_entries=0
#: set itlb.entries=1 itlb.ways=1 l2tlb.entries=64
#: expect fetch(b) - fetch(a) == 38
#: expect fetch(c) - fetch(b) == 8
#: expect events.itlb_access_misses_spec == 3
#: expect events.itlb_walks_spec == 2
#
# b is on a page that both TLBs lack: a cycle to get there, l2tlb.latency 7, the walk 30. It takes the only entry of the
# first TLB, so going back to the first page misses that one and hits the second: 1 + 7. c has a line of its own, since
# lines at hand need no translation.
    .include "fact.inc"
    begin
a:  j b
    .balign 64
c:  nop
    finish
    .balign 4096
b:  j c
