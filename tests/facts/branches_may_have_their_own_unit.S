#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: run
#: expect issue(b) - issue(a) == 0
#: run branch.unit=branch
#: expect issue(b) - issue(a) == 1
#: run branch.unit=branch units.branch=2
#: expect issue(b) - issue(a) == 0
#
# Two branches that dispatch together share the ALUs with everything else, or wait for the one branch unit.
    .include "fact.inc"
    begin
    nops 4
a:  bne x0, x0, end
b:  bne x0, x0, end
end: finish
