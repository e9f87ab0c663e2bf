#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static units.alu=5
#: set dispatch.bundle=5 dispatch.width=5 decode.width=5 commit.width=5 rob.size=100
#: expect dispatch(branch) - dispatch(first) == 0
#: expect dispatch(next) - dispatch(branch) == 1
#: expect commit(next) - commit(branch) == 1
#
# The branch is the second of its bundle, which has no more; the next instruction begins another one, a cycle later.
    .include "fact.inc"
    begin
first: nop
branch: bne x0, x0, next
next: nop
    nops 4
    finish
