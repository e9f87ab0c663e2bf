#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l2d=yes branch.predictor=static branch.btb_entries=0
#: expect issue(load) == 9
#: expect issue(branch) == 9 + 11
#: expect dispatch(target) - dispatch(branch) == 20
#: expect stack.fmt.branch == 20
#: expect stack.fmt.l1d == 0
#: expect stack.fmt2.branch == 20 - 5
#: expect stack.fmt2.l1d == 5
#
# The branch dispatches at 6 and waits for data of the second cache; it resolves at 21, and the target enters at 26: 6 to
# 25 are 20. The load is the oldest from 10 on, when the address's second half commits, and its data is there at 20: in
# 11 to 20 branch and load are both to blame. Without the one the other would cost nothing, and each is charged half of
# the ten cycles.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
branch: beqz a2, target
    nops 12
target: nop
    finish
