#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: run perfect.branch=yes
#: expect fetch(target) - fetch(branch) == 1
#: expect events.mispredictions == 0
#: expect events.misfetches == 0
#: expect events.squashed == 0
#: run
#: expect fetch(target) - complete(branch) == 0
#: expect events.mispredictions == 1
#
# Fetch goes on at the target in the next cycle, since that lies in another line. A real predictor of this kind waits
# for the branch.
    .include "fact.inc"
    begin
branch: beq x0, x0, target
    nops 7
    nops 8
target: nop
    finish
