#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: run
#: expect fetch(there) - fetch(jump) == 3
#: expect stack.fmt.branch == 2
#: expect stack.sfmt.branch == 2
#: expect stack.naive.branch == 0
#: run branch.misfetch_cycles=5
#: expect fetch(there) - fetch(jump) == 6
#: expect stack.fmt.branch == 5
#: expect stack.sfmt.branch == 5
#: run branch.btb_entries=0
#: expect fetch(there) - fetch(jump) == 1
#: expect stack.fmt.branch == 0
#: expect stack.sfmt.branch == 0
#
# The jump is fetched at 1. The BTB does not know it: 2 and 3 bring nothing, branch.misfetch_cycles. They are in the
# row of the next branch, which is well predicted, and in sfmt's shared counters when `there` commits. There is no
# misprediction for naive to count.
    .include "fact.inc"
    begin
    nops 3
jump: j there
    ebreak
there: nop
    nops 2
    bnez x0, end
    nops 4
end: finish
