#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: counter misfetches misfetches
#: counter misfetched misfetched
#: counter squashed squashed
#: expect count(wrong.wrong) == 1
#: expect counter.misfetches == 2
#: expect counter.misfetched == 1
#: expect counter.squashed == 2
#
# Before the branch is resolved its wrong path jumps, which the BTB does not know; so does the right path then. Of what
# comes late for that, the instruction on the right path retires.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
branch: beq a3, a2, right
    j wrong
right:
    j end
    nop
wrong: nop
    ecall                   # the wrong path ends here
end: finish
