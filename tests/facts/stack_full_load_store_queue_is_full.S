#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run lsq.size=4
#: expect dispatch(fifth) == 271
#: expect stack.fmt.l2d == 260
#: expect stack.sfmt.l2d == 260
#: expect stack.fmt2.l2d == 260
#: run lsq.size=0 lsq.loads=4
#: expect stack.fmt.l2d == 260
#: run
#: expect stack.fmt.l2d == 0
#: expect stack.sfmt.l2d == 0
#: expect stack.fmt2.l2d == 0
#: expect stack.power5.l2d == 260
#
# The first load issues at 9, is the head from 11 on and completes at 270, as do the three behind it, which wait for
# the same line. The fifth finds no place in a queue of 4 from 7 on, until the first commits at 271: 11 to 270 are l2d,
# in a ROB of 128 with 6 instructions.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    ld a3, 0(a1)
    ld a4, 0(a1)
    ld a5, 0(a1)
fifth: ld a6, 0(a1)
    finish
