#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: set rob.size=8
#: expect complete(branch) == 11
#: expect dispatch(target) - dispatch(branch) == 9
#: expect stack.fmt.branch == 5
#: expect stack.fmt.l2d == 254
#: expect stack.sfmt.branch == 5
#: expect stack.sfmt.l2d == 254
#
# A load from memory dispatches at 6, issues at 9 and completes at 270. The branch behind it dispatches at 7, which
# fills the ROB; it waits for a product and resolves at 11. What commits at 9 and 10 makes room for more of the wrong
# path, so the ROB is full in 7 to 10, and nothing of the resolution is charged to the branch; there is no miss at the
# head then, either. The right path enters at 16 and 17: 11 to 15 are the branch's; full again from 17 on, headed by
# the load, 17 to 270 are l2d.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    mul a3, x0, x0
branch: beqz a3, target
    nops 12
    ebreak
target: nop
    nops 16
    finish
