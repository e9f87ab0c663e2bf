#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.prefetch=stride branch.predictor=static
#: expect complete(load[0]) - issue(load[0]) == 252
#: expect complete(load[1]) - issue(load[1]) == 252
#: expect complete(load[2]) - issue(load[2]) == 252
#: expect complete(load[3]) - issue(load[3]) == 2
#: expect complete(load[4]) - issue(load[3]) == 252
#
# One instruction loads at steps of 256 bytes, each time when it has the data of the time before. The third access is
# the second equal step: its miss asks for the fourth line, which comes with its own. The fourth access, the first use
# of a prefetched line, asks for the fifth, which so comes 252 later.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 5
top:
load: ld a3, 0(a1)          # 0
    add a1, a1, a3
    addi a1, a1, 256
    addi a2, a2, -1
    bnez a2, top
    finish
