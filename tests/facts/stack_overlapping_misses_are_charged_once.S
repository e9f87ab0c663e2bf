#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes rob.size=16
#: expect complete(a) == 270
#: expect complete(b) == 270
#: expect events.l2d_misses == 2
#: expect stack.fmt.l2d == 260
#: expect stack.sfmt.l2d == 260
#: expect stack.fmt2.l2d == 260
#: expect stack.power5.l2d == 260
#: expect stack.naive.l2d == 2 * 250
#: expect stack.naive.l1d == 2 * 9
#: expect stack.naive.base == cycles - 518
#: expect stack.naive.base < 0
#
# Both loads issue at 9 and complete 261 later. The ROB of 16 is full from 10 on, the first load its head from 11 on:
# 11 to 270, when the second one is complete as well. Naive charges both, and leaves less than nothing for the base.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 128(a1)
    nops 20
    finish
