#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect stack.fmt.branch == 10
#: expect stack.fmt.branch == dispatch(target) - dispatch(branch)
#: expect stack.sfmt.branch == 10
#: expect stack.naive.branch == 5
#: expect stack.fmt.base == cycles - 10
#: run frontend.stages=9
#: expect stack.fmt.branch == 14
#: expect stack.sfmt.branch == 14
#: expect stack.naive.branch == 9
#: run branch.latency=4
#: expect stack.fmt.branch == 13
#: expect stack.sfmt.branch == 13
#: run mul.latency=10
#: expect stack.fmt.branch == 17
#: expect stack.sfmt.branch == 17
#
# The branch dispatches at 6 with a multiplication, which issues at 7. mul.latency later, at 10, the branch issues, and
# resolves branch.latency later, at 11: resolution is 1 + 3 + 1. Fetch is redirected in that cycle, and the target
# enters frontend.stages later, at 16: 6 to 15 are the penalty. The wrong path, 12 instructions, does not fill the ROB.
    .include "fact.inc"
    begin
    nops 2
    mul a1, x0, x0
branch: beqz a1, target
    nops 12
    ebreak
target: nop
    finish
