#: set perfect.l1i=yes perfect.itlb=yes fpmul.unit=fpu units.fpu=1
#: expect issue(sum) - issue(quotient) == 12
#: expect issue(other) - issue(sum) == 1
#
# With fpmul.unit=fpu the units that add also divide. A division takes its unit for its whole latency, though the
# addition needs none of its results; additions follow each other every cycle.
    .include "fact.inc"
    begin
quotient: fdiv.d fa0, fa1, fa2
sum: fadd.d fa3, fa1, fa2
other: fadd.d fa4, fa1, fa2
    finish
