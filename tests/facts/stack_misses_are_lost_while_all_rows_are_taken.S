#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run fmt.rows=1
#: expect commit(branch) == 21
#: expect fetch(second) == 23
#: expect stack.fmt.l1i == 9 + 2
#: expect stack.fmt2.l1i == 9 + 2
#: expect stack.sfmt.l1i == 9 + 9
#: run fmt.rows=2
#: expect stack.fmt.l1i == 9 + 9
#: run
#: expect stack.fmt.l1i == 9 + 9
#
# The first line misses in cycles 1 to 9 and the second in 14 to 22, when the branch at the end of the first line holds
# a row: from its fetch at 13 to its commit at 21. If it is the only one, 14 to 20 are lost, and the freed row collects
# 21 and 22 for the next branch. sfmt keeps no misses in rows.
    .include "fact.inc"
    begin
    nops 15
branch: bnez x0, end
second: nop
    nops 2
    bnez x0, end
end: nop
    finish
