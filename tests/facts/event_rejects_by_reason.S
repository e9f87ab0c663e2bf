#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.mshrs=1
#: counter rejects rejects
#: counter overlap rejects:overlap
#: counter mshr rejects:mshr
#: counter tlb rejects:tlb
#: counter rejected rejected
#: counter reissued reissued
#: counter refused mshr_rejects
#: counter forwards forwards
#: counter forwarded forwards:retired
#: counter source load_sources:store
#: counter loads loads
#: counter issued issued
#: expect counter.rejects == 1 + 2 + 2
#: expect counter.overlap == 2
#: expect counter.mshr == 1 + 2
#: expect counter.tlb == 0
#: expect counter.rejected == 2 + 2
#: expect counter.reissued == 3 + 2
#: expect counter.refused == 3 + 1
#: expect counter.forwards == 3
#: expect counter.forwarded == 3
#: expect counter.source == 3
#: expect counter.loads == 3 + 2 + 3
#: expect counter.issued == 39
#
# Three loads of three lines, one MSHR: the second is sent back once, the third twice, as the second takes the MSHR
# first. Then two stores of two other lines; the cache refuses the second once. When all that is over there are two
# loads that an older store has only part of, each of which is sent back until that has left, and three that a store has
# all of. So five issues are again ones, of 34 instructions.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    ld a3, 0(a1)
    ld a3, 128(a1)
    ld a3, 256(a1)
    fence
    sd a2, 512(a1)
    sd a2, 640(a1)
    fence
    sw a2, 0(a1)
    ld a3, 0(a1)            # overlaps
    fence
    sh a2, 130(a1)
    lw a3, 128(a1)          # overlaps
    fence
    sd a2, 8(a1)
    ld a3, 8(a1)
    lw a3, 12(a1)
    lbu a3, 15(a1)
    nops 11
    finish
