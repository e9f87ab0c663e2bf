#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run
#: expect complete(load) - issue(load) == 261
#: run l2.size=0
#: expect complete(load) - issue(load) == 252
#: run l3.size=1M
#: expect complete(load) - issue(load) == 291
#
# Times add up level by level: l1d 2 + l2 9 + memory 250 = 261; without a second level 2 + 250; with a third one, whose
# latency is 30, 2 + 9 + 30 + 250.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    finish
