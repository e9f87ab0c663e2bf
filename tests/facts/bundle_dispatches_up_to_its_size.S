#: set perfect.l1i=yes perfect.itlb=yes
#: set dispatch.bundle=5 dispatch.width=5 decode.width=5 commit.width=5 rob.size=100
#: expect dispatch(last) - dispatch(first) == 0
#: expect dispatch(next) - dispatch(first) == 1
#: expect dispatch(next_last) - dispatch(next) == 0
#
# Five instructions form a bundle, the next five, which have come through decode a cycle later, another.
    .include "fact.inc"
    begin
first: nop
    nops 3
last: nop
next: nop
    nops 3
next_last: nop
    finish
