#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(branch) == 10
#: expect dispatch(target) - dispatch(branch) == 7
#: expect stack.fmt.l1i == 9
#: expect stack.fmt.branch == 7
#: expect stack.sfmt.l1i == 0
#: expect stack.sfmt.branch == 7
#
# The branch itself misses, in cycles 1 to 9, and takes them along when it is fetched at 10; it dispatches at 15,
# resolves at 17, and the target enters at 22: 15 to 21 are its penalty. sfmt cannot tell this miss from one on the
# wrong path: the branch resolves at 17 and commits at 18, so that what the shared counters hold is forgotten and becomes
# base.
    .include "fact.inc"
    begin
branch: beqz x0, target
    ebreak
target: nop
    finish
