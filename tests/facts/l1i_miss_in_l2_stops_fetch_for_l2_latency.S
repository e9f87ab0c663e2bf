#: set perfect.itlb=yes
#: run
#: expect fetch(b) - fetch(a) == 10
#: expect cycles_by.fetch.l1i == 9
#: expect cycles_by.fetch.l2i == 259
#: expect events.l1i_access_misses_spec == 2
#: expect events.l2i_access_misses_spec == 1
#: run l2.latency=20
#: expect fetch(b) - fetch(a) == 21
#
# a is the first of a line of 32 bytes, b of the next one, in the same line of the second cache. The eight instructions
# of a's line are fetched at once; b's line is asked for in the next cycle and is there l2.latency later: 1 + 9. Fetch
# is stopped for 9 cycles by that; by the first line, which comes from memory, for 9 + 250.
    .include "fact.inc"
    begin
a:  nop
    nops 7
b:  nop
    finish
