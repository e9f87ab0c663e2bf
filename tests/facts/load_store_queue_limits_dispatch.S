#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run lsq.size=4
#: expect dispatch(fourth) < complete(load)
#: expect complete(fourth) - complete(load) == 0
#: expect dispatch(fifth) - commit(load) == 0
#: run lsq.size=0 lsq.loads=4
#: expect dispatch(fifth) - commit(load) == 0
#: run lsq.size=0 lsq.stores=4
#: expect dispatch(fifth) < complete(load)
#
# Loads hold their place until they commit, in order: the first comes from memory, the others wait for the same line and
# are complete with it; the fifth enters when the first commits.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    ld a3, 0(a1)
    ld a4, 0(a1)
fourth: ld a5, 0(a1)
fifth: ld a6, 0(a1)
    finish
