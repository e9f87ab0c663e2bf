#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run fmt.rows=1
#: expect commit(a) == 18
#: expect fetch(target) == 27
#: expect stack.fmt.branch == 0
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.sfmt.branch == 0
#: expect stack.sfmt.l1i == 9 + 9
#: run fmt.rows=2
#: expect stack.fmt.branch == 0
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.sfmt.branch == 0
#: run fmt.rows=3
#: expect stack.fmt.branch == 7
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.sfmt.branch == 7
#
# Branches a and b are fetched at 10 and commit at 18. The third, fetched at 11 and mispredicted, finds no row if there
# are only two, and its penalty, 16 to 31 less the 9 cycles of the target's miss, is counted nowhere: it is base. That
# miss, 18 to 26, begins when the rows of a and b are free again, and is not lost. Neither is that of 1 to 9, before a.
    .include "fact.inc"
    begin
    nop
a:  bnez x0, end
    nop
b:  bnez x0, end
    nops 3
branch: beqz x0, target
    ebreak
    .balign 64
target: nop
    nops 2
    bnez x0, end
end: nop
    finish
