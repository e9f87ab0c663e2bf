#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(first) == 10
#: expect dispatch(target) - dispatch(branch) == 7
#: expect stack.fmt.l1i == 9
#: expect stack.fmt.branch == 7
#: expect stack.fmt2.l1i == 9
#: expect stack.fmt2.branch == 7
#: expect stack.sfmt.l1i == 9
#: expect stack.sfmt.branch == 7
#
# The only line misses in cycles 1 to 9, which wait in the row that the branch takes at 11. The branch is in the ROB
# from 16 on and resolves at 18, and the target enters at 23: 16 to 22 are its penalty. The shared counters of sfmt are
# added when the first instruction commits, at 18, before the branch resolves in that cycle. The wrong path has nothing
# to fetch.
    .include "fact.inc"
    begin
first: nop
    nops 6
branch: beqz x0, target
    ebreak
target: nop
    finish
