#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes rob.size=8
#: run
#: expect last_issue(load) == 39
#: expect complete(load) == 300
#: expect stack.fmt.dtlb == 29
#: expect stack.fmt.l2d == 261
#: expect stack.fmt.l1d == 0
#: expect stack.power5.dtlb == 29
#: expect stack.power5.l2d == 261
#: run perfect.l2d=yes
#: expect complete(load) == 50
#: expect stack.fmt.dtlb == 29 + 11
#: expect stack.fmt.l1d == 0
#: expect stack.power5.dtlb == 29 + 11
#: expect stack.power5.l1d == 0
#: run perfect.l2d=yes perfect.dtlb=yes
#: expect complete(load) == 20
#: expect stack.fmt.dtlb == 0
#: expect stack.fmt.l1d == 10
#: expect stack.power5.l1d == 10
#
# The ROB of 8 is full from 7 on, and the load is its head from 11 on. It issues at 9, is sent back for a walk of 30
# cycles, and issues again at 39: 11 to 39 are dtlb. The rest, 40 to 300, it waits for memory: l2d. When the second
# cache has the data, at 50, a load that also walked is dtlb throughout, 11 to 50, and one that did not is l1d, 11 to
# 20.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    nops 16
    finish
