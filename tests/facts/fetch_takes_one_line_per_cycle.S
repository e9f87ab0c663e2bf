#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes fetch.width=6
#: run
#: expect fetch(b) - fetch(a) == 1
#: expect fetch(c) - fetch(a) == 2
#: run fetch.lines=2
#: expect fetch(b) - fetch(a) == 1
#: expect fetch(c) - fetch(a) == 1
#
# Six of the line's eight instructions come in the first cycle. In the second only two are left of that line; the next
# line is a second one, which fetch.lines=1 does not allow in that cycle.
    .include "fact.inc"
    begin
a:  nop
    nops 5
b:  nop
    nop
c:  nop
    finish
