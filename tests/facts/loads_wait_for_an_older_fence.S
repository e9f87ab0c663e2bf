#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect issue(order) - commit(slow) == 0
#: expect issue(load) - complete(order) == 0
#
# The fence issues when everything before it has committed, takes a cycle, and lets the load go.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
slow: div a3, a2, a2
order: fence
load: ld a4, 0(a1)
    finish
