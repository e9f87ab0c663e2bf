#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run
#: expect complete(load) == 270
#: expect stack.power5.l2d == 260
#: expect stack.fmt.l2d == 0
#: run perfect.l2d=yes
#: expect complete(load) == 20
#: expect stack.power5.l1d == 10
#: expect stack.fmt.l1d == 0
#
# The load issues at 9 and is the head from 11 on, behind the two instructions that commit at 9 and 10. It completes at
# 270, or at 20 with data from the second cache. The ROB of 128 is never full, which matters to fmt only.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    nops 8
    finish
