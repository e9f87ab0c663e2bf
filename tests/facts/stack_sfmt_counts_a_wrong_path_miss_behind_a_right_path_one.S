#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: set branch.latency=4
#: expect commit(first) == 18
#: expect complete(branch) == 21
#: expect stack.fmt.l1i == 9
#: expect stack.fmt.branch == 10
#: expect stack.sfmt.l1i == 9 + 6
#: expect stack.sfmt.branch == 10
#: expect stack.sfmt.base == stack.fmt.base - 6
#
# The inaccuracy that section 4.1.2 of Eyerman et al. admits. The first line misses in cycles 1 to 9; the branch is
# fetched at 11, dispatches at 16 and resolves at 21. Its wrong path misses from 12 on, and at 18, when the first
# instruction commits with its miss, the shared counters hold 9 and 12 to 17. The rest, 18 to 20, is still there when
# the branch resolves, and is forgotten. fmt, with a row of its own for each branch, counts 9. Both charge 16 to 25 to
# the branch, so that sfmt charges 16 and 17 twice, and 12 to 15, which are fmt's base, to the miss.
    .include "fact.inc"
    .text
    .balign 64
elsewhere: nop
    begin
first: nop
    nops 6
branch: bnez x0, elsewhere
next: nop
    bnez x0, end
end: finish
