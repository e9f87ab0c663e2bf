#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: run fetch.branches=2
#: expect fetch(there) - fetch(jump) == 3
#: expect stack.fmt.branch == 2
#: expect stack.fmt2.branch == 2 + 0.5
#: run fetch.branches=1
#: expect fetch(there) - fetch(jump) == 3
#: expect stack.fmt.branch == 2
#: expect stack.fmt2.branch == 2
#
# The jump is the second of its group, and the BTB does not know it. Had it done so, two instructions from its target
# would have filled the group; if a group may have no second branch, it would have ended with the jump in any case.
    .include "fact.inc"
    begin
    nop
jump: j there
    ebreak
there: nop
    nops 2
    bnez x0, end
    nops 4
end: finish
