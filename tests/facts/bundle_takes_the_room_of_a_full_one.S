#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static
#: set dispatch.bundle=5 dispatch.width=5 decode.width=5 commit.width=5
#: run rob.size=10
#: expect dispatch(second) - dispatch(load) == 1
#: expect dispatch(third) - commit(load) == 0
#: run rob.size=14
#: expect dispatch(third) - commit(load) == 0
#: run rob.size=15
#: expect dispatch(third) - dispatch(load) == 2
#
# Bundles of four (the load's), one and one instruction. A ROB of 10 has room for two bundles, whatever is in them; the
# third enters when the first commits, after the load from memory. 14 is no more than 10; 15 is three bundles.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    bne x0, x0, end
second: bne x0, x0, end
third: bne x0, x0, end
end: finish
