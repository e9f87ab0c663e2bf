#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes issue.order=in_order
#: expect issue(between) - issue(load) == 0
#: expect issue(use) - issue(load) == 261
#: expect issue(after) - issue(use) == 0
#: expect commit(between) - commit(load) == 0
#
# The load itself blocks nothing: the next one issues with it. Its consumer waits for memory, and what follows with it.
# Commit is in order in any case.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
between: addi a3, x0, 1
use: addi a4, a2, 1
after: addi a5, x0, 1
    finish
