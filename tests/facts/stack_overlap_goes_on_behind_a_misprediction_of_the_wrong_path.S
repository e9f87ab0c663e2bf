#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: set rob.size=16
#: expect complete(wrong.inner) == 9
#: expect dispatch(wrong.deep) == 14
#: expect complete(load) == 270
#: expect stack.fmt.l2d == 254
#: expect overlap == 254
#
# The branch waits for a load from memory. On its wrong path, another branch resolves at 9 as mispredicted, and other
# instructions of the wrong path enter the ROB at 14. That ends the refill behind the inner branch, not the penalty of
# the outer one, which is unresolved until 271. The ROB of 16 is full from 17 to 270.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)          # 0
branch: beqz a2, target
inner: beqz x0, deep
    nops 20
    ebreak
deep: nops 20
    ebreak
target: nop
    finish
