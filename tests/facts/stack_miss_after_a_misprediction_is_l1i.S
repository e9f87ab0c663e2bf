#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(target) - complete(branch) == 9
#: expect dispatch(target) - dispatch(branch) == 9 + 7
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.fmt.branch == 7
#: expect stack.sfmt.l1i == 9 + 9
#: expect stack.sfmt.branch == 7
#
# The first line misses in cycles 1 to 9. The branch is fetched at 11, dispatches at 16 and resolves at 18, where the
# right path misses in its turn: 18 to 26 starve the front end, and the target enters at 32. Of 16 to 31 these 9 are
# l1i, by the row of the next branch; the other 7 are the misprediction. With sfmt the first instruction, which commits
# at 18, and the target bring 9 each.
    .include "fact.inc"
    begin
    nops 7
branch: beqz x0, target
    ebreak
    .balign 64
target: nop
    nops 2
    bnez x0, target + 32
    nops 4
    finish
