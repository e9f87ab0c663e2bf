#: set perfect.l1i=yes perfect.itlb=yes
#: run dispatch.width=3
#: expect dispatch(c) - dispatch(a) == 0
#: expect dispatch(d) - dispatch(a) == 1
#: expect dispatch(h) - dispatch(a) == 2
#: run dispatch.width=1
#: expect dispatch(c) - dispatch(a) == 2
#: expect dispatch(h) - dispatch(a) == 7
#
# Decode brings four per cycle, dispatch takes three, or one.
    .include "fact.inc"
    begin
a:  nop
    nop
c:  nop
d:  nop
    nops 3
h:  nop
    finish
