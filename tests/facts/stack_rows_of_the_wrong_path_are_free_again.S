#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run fmt.rows=2
#: expect complete(branch) == 17
#: expect count(wrong.inner) == 1
#: expect fetch(target) == 26
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.fmt.branch == 7
#: run fmt.rows=1
#: expect commit(branch) == 18
#: expect stack.fmt.l1i == 9 + 8
#: expect stack.fmt.branch == 7
#
# The branch, fetched at 10, takes a row and the 9 cycles of the first miss; the one on its wrong path takes another at
# 11, until the first resolves at 17. From then on the right path misses, 17 to 25. If there are two rows, the one that
# the squashed branch had collects that for the next branch. If there is one, 17 is lost: the row is free when the
# branch commits, at 18. The penalty is 15 to 30 less the miss: the target enters at 31.
    .include "fact.inc"
    begin
    nops 3
branch: beqz x0, target
inner: bnez x0, target
    ebreak
    .balign 64
target: nop
    nops 2
    bnez x0, end
end: nop
    finish
