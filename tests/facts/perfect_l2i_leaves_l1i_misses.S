#: set perfect.itlb=yes perfect.l2i=yes
#: expect fetch(b) - fetch(a) == 10
#: expect fetch(c) - fetch(b) == 10
#: expect events.l1i_access_misses_spec == 3
#: expect events.bus_transactions == 0
#: expect cycles_by.fetch.l2i == 0
#: expect cycles_by.fetch.l1i == 27
#
# Three lines that the first cache lacks, each l2.latency away.
    .include "fact.inc"
    begin
a:  nop
    nops 7
b:  nop
    nops 7
c:  nop
    finish
