#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect commit(x) == 37
#: expect dispatch(y) == 28
#: expect commit(y) == 57
#: expect complete(branch) == 57
#: expect dispatch(next) == 62
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.fmt.branch == 34
#: expect stack.sfmt.l1i == 9 + 9 + 9
#: expect stack.sfmt.branch == 34
#: expect stack.sfmt.base == stack.fmt.base - 9
#
# Lines miss in cycles 1 to 9 and 14 to 22, x and y are their first instructions, and both divide: x commits at 37, y
# at 57. The branch, which waits for y, dispatches at 28 and resolves at 57, in which cycle y has already committed.
# Its wrong path, from 24 on, misses twice, in 24 to 32 and in 37 to 45. With x, sfmt counts what there was up to 36: 9
# + 9 + 9; this clears the bit of y, so that the last miss is still in the shared counters when the branch resolves,
# and is forgotten there. fmt counts the misses of the right path: of the wrong path, one is in the row of a branch
# there, the other in the row at the fetch pointer. Both charge 28 to 61 to the branch. The 9 of the first miss on the
# wrong path are thus in two components of sfmt, and missing in its base.
    .include "fact.inc"
    .text
    .balign 64
elsewhere: nops 15
    bnez x0, next
    nops 15
    ebreak
    begin
x:  div a1, x0, x0          # -1
    nops 15
y:  div a2, x0, x0
    nops 2
branch: beqz a2, elsewhere
next: nop
    bnez x0, end
end: finish
