#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes
#: run rob.size=8
#: expect complete(div) == 28
#: expect stack.fmt.fu == 19
#: expect stack.sfmt.fu == 19
#: expect stack.fmt2.fu == 19
#: expect stack.power5.fu == 19
#: run
#: expect stack.fmt.fu == 0
#: expect stack.sfmt.fu == 0
#: expect stack.power5.fu == 19
#
# The division issues at 8, completes at 28 and is the head from 10 on. The ROB of 8 is full from 7 on: 10 to 28 are
# fu. That of 128 is not: only power5, which looks at commit, sees the stall.
    .include "fact.inc"
    begin
    li a1, 7
div: div a2, a1, a1
    nops 14
    finish
