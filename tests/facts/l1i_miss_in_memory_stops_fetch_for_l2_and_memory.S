#: set perfect.itlb=yes
#: run
#: expect fetch(b) - fetch(a) == 260
#: expect events.l2i_access_misses_spec == 2
#: run memory.latency=100
#: expect fetch(b) - fetch(a) == 110
#
# b begins a new line of both caches, a the line before: a cycle to get there, then l2 9 + memory 250.
    .include "fact.inc"
    begin
    nops 8
a:  nop
    nops 7
b:  nop
    finish
