#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect fetch(h) - fetch(a) == 0
#: expect dispatch(d) - dispatch(a) == 0
#: expect dispatch(h) - dispatch(a) == 1
#: run decode.width=2
#: expect dispatch(c) - dispatch(a) == 1
#: expect dispatch(h) - dispatch(a) == 3
#: run decode.width=8 dispatch.width=8
#: expect dispatch(h) - dispatch(a) == 0
#
# Eight instructions are fetched in one cycle and leave the front end four, two or eight per cycle.
    .include "fact.inc"
    begin
a:  nop
    nop
c:  nop
d:  nop
    nops 3
h:  nop
    finish
