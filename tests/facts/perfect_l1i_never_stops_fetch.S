#: set perfect.itlb=yes
#: run perfect.l1i=yes
#: expect fetch(b) - fetch(a) == 1
#: expect fetch(c) - fetch(b) == 1
#: expect events.l1i_access_misses_spec == 0
#: expect events.bus_transactions == 0
#: run
#: expect fetch(b) - fetch(a) == 10
#
# Every line hits; a cycle each.
    .include "fact.inc"
    begin
a:  nop
    nops 7
b:  nop
    nops 7
c:  nop
    finish
