#: set perfect.itlb=yes
#: run l1i.prefetch=next_line
#: expect fetch(b) - fetch(a) == 1
#: expect events.l1i_useful_prefetches == 1
#: run
#: expect fetch(b) - fetch(a) == 10
#
# The miss of a's line asks for b's as well, which lies in the same line of the second cache and arrives with it.
# Without the prefetcher b's line costs its own l2.latency.
    .include "fact.inc"
    begin
a:  nop
    nops 7
b:  nop
    finish
