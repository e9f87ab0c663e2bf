#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect complete(a) - issue(a) == 20
#: expect issue(b) - issue(a) == 20
#: expect issue(c) - issue(a) == 40
#: expect issue(d) - dispatch(d) == 1
#: run div.pipelined=yes
#: expect issue(b) - issue(a) == 1
#: expect issue(c) - issue(a) == 2
#
# Divisions are not pipelined: the next one, and a multiplication on the same unit, wait div.latency each. An addition
# does not care.
    .include "fact.inc"
    begin
    li a1, 30
    li a2, 5
    nops 2
a:  div a3, a1, a2
b:  div a4, a1, a2
c:  mul a5, a1, a2
d:  add a6, a1, a2
    finish
