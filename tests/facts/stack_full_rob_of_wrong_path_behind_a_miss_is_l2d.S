#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: run rob.size=8
#: expect complete(load) == 270
#: expect dispatch(target) - dispatch(branch) == 270
#: expect stack.fmt.l2d == 260
#: expect stack.fmt.branch == 1 + 5
#: expect stack.sfmt.l2d == 260
#: expect stack.sfmt.branch == 1 + 5
#: run
#: expect dispatch(target) - dispatch(branch) == 270
#: expect stack.fmt.l2d == 0
#: expect stack.fmt.branch == 270
#: expect stack.sfmt.l2d == 0
#: expect stack.sfmt.branch == 270
#
# The branch waits for a load from memory. Both dispatch at 6; the load issues at 9, completes at 270 and is the head
# from 11 on. The branch resolves at 271, its target enters at 276. With a ROB of 8 the wrong path fills it at 7, and
# each time one of the first two instructions commits, at 9 and 10: 7 to 270 are no part of the branch's penalty, and
# 11 to 270 are l2d. The branch is left with 6 and 271 to 275. With a ROB of 128 that is never full all 270 are the
# branch's.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)          # 0
branch: beqz a2, target
    nops 12
    ebreak
target: nop
    finish
