#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes rob.size=8 fetch.buffer=4
#: expect fetch(fits) < complete(load)
#: expect fetch(waits) - commit(load) == 0
#: expect dispatch(first) - commit(load) == 0
#
# While the load waits for memory, the ROB holds it and 7 more, the front end 5 stages of 4 and a buffer of 4: 24. So
# instruction 2 + 8 + 24 is the first that has no room. When the load commits, four leave the ROB, four enter it from
# the front end, and four are fetched, in this order, in the same cycle.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    nops 7
first: nop
    nops 22
fits: nop
waits: nop
    finish
