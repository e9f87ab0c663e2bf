#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: run
#: expect fetch(b) - fetch(a) == 0
#: expect fetch(c) - fetch(a) == 1
#: run fetch.branches=1
#: expect fetch(b) - fetch(a) == 1
#: expect fetch(c) - fetch(a) == 2
#: run fetch.branches=4
#: expect fetch(c) - fetch(a) == 0
#
# Three branches that are not taken, in one line.
    .include "fact.inc"
    begin
a:  bne x0, x0, end
b:  bne x0, x0, end
c:  bne x0, x0, end
end: finish
