#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run iq.size=4
#: expect dispatch(fourth) == 9
#: expect dispatch(fifth) == 270
#: expect stack.fmt2.l2d == 259
#: expect stack.fmt.l2d == 0
#: expect stack.sfmt.l2d == 0
#: run iq.int=4
#: expect stack.fmt2.l2d == 259
#: expect stack.fmt.l2d == 0
#: run
#: expect stack.fmt2.l2d == 0
#
# The load issues at 9, is the head from 11 on and completes at 270. Four additions wait for it, the last of them from
# 9 on, and fill the issue queue until they issue, at 270, and four more enter in that cycle: dispatch lacks room in 11
# to 269. A queue of the integer instructions' own does the same. The ROB of 128 has few instructions in it.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    addi a3, a2, 1
    addi a3, a2, 2
    addi a3, a2, 3
fourth: addi a3, a2, 4
fifth: addi a3, a2, 5
    addi a3, a2, 6
    addi a3, a2, 7
    addi a3, a2, 8
    nops 8
    finish
