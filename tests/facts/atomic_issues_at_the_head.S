#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect issue(atomic) - commit(slow) == 0
#: expect complete(atomic) - issue(atomic) == 2
#: expect issue(load) - complete(atomic) == 0
#: expect events.atomics == 1
#
# Its operands are there long before; it issues in the cycle in which the instruction before it commits, takes
# l1d.latency, and only then may younger loads go.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
slow: div a3, a2, a2
atomic: amoadd.d a4, a2, (a1)
load: ld a5, 64(a1)
    finish
