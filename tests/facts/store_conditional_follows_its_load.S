#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect complete(reserve) - issue(reserve) == 2
#: expect issue(conditional) - commit(reserve) == 2
#: expect complete(conditional) - issue(conditional) == 2
#: expect commit(conditional) - issue(reserve) == 8
#: expect exit_status == 0
#
# Both issue at the head with all older memory operations done. lr takes a place in the order of stores: it commits at
# t, leaves the store buffer at t + 1, and sc goes at t + 2. A pair takes (2 + 1) + 2 + (2 + 1). sc succeeds: 0.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 5
    li a7, 93
reserve: lr.d a3, (a1)
conditional: sc.d a0, a2, (a1)
    ecall
