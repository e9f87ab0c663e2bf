#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(wrong.inner_target[-1]) - complete(wrong.inner) == 0
#: expect complete(wrong.inner) < complete(outer)
#: expect fetch(right) - complete(outer) == 0
#: expect events.mispredictions == 1
#: expect events.mispredictions_spec == 2
#
# The outer branch waits for a quotient. On its wrong path there is a branch that is mispredicted as well; it resolves
# at once and redirects the wrong path, to where its own registers lead. Then the outer one resolves and ends all that.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
outer: beq a3, a2, right
inner: beq a2, a2, inner_target
    nops 4
inner_target: nop
    nops 7
right: nop
    finish
