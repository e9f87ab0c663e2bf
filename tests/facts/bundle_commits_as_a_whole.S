#: set perfect.l1i=yes perfect.itlb=yes
#: set dispatch.bundle=5 dispatch.width=5 decode.width=5 commit.width=5 rob.size=100
#: run
#: expect commit(first) - complete(last) == 1
#: expect commit(last) - commit(first) == 0
#: expect commit(next) - commit(last) == 1
#: run dispatch.bundle=0
#: expect commit(first) - complete(first) == 1
#
# The first is done after a cycle, the fifth is a division: all five commit when that is complete, and the next bundle,
# one per cycle, after it. Without bundles the first commits at once.
    .include "fact.inc"
    begin
first: li a1, 1
    nops 3
last: div a2, a1, a1
next: nop
    nops 4
    finish
