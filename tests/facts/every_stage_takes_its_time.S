#: set perfect.l1i=yes perfect.itlb=yes
#: run frontend.stages=1
#: expect dispatch(a) - fetch(a) == 1
#: run
#: expect dispatch(a) - fetch(a) == 5
#: expect issue(a) - dispatch(a) == 1
#: expect complete(a) - issue(a) == 1
#: expect commit(a) - complete(a) == 1
#: run frontend.stages=20
#: expect dispatch(a) - fetch(a) == 20
#
# The first instruction meets no other: from fetch to dispatch the stages of the front end, to issue a cycle, to
# completion the latency of an ALU (1), to commit a cycle.
    .include "fact.inc"
    begin
a:  addi a1, x0, 1
    finish
