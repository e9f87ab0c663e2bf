#: set perfect.l1i=yes perfect.itlb=yes
#: run fetch.width=2
#: expect fetch(b) - fetch(a) == 0
#: expect fetch(c) - fetch(a) == 1
#: run fetch.width=1
#: expect fetch(c) - fetch(a) == 2
#: run
#: expect fetch(c) - fetch(a) == 0
#
# All in one line.
    .include "fact.inc"
    begin
a:  nop
b:  nop
c:  nop
    finish
