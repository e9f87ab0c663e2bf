#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(branch) == 18
#: expect dispatch(next) - dispatch(branch) == 7
#: expect stack.fmt.l1i == 9
#: expect stack.fmt.branch == 7
#: expect stack.sfmt.l1i == 9
#: expect stack.sfmt.branch == 7
#: expect stack.naive.l1i == 2 * 9
#: expect stack.naive_nonspec.l1i == 9
#
# The program's line misses in cycles 1 to 9, and fence.i has committed at 18, when fetch goes on. The backward branch
# is predicted as taken; its target's line is in no cache: the wrong path starves from 19 on, until the branch resolves
# at 25. fmt forgets that: the row that collected it is zeroed before the next branch takes it; the penalty is 23, when
# the branch dispatched, to 29: next enters at 30. sfmt holds the 6 of 19 to 24 in its shared counters when the branch
# resolves, and forgets them there.
    .include "fact.inc"
    .text
    .balign 64
elsewhere: nop
    begin
    fence.i
    nops 3
branch: bnez x0, elsewhere
next: nop
    bnez x0, end
end: finish
