#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.size=64 l1d.ways=2
#: expect complete(used) - issue(used) == 2
#: expect complete(oldest) - issue(oldest) == 11
#
# One set of two ways: A, B, A again, then C takes the place of B. Each load depends on the one before, so they come in
# this order. A is still there; B is in the second cache only.
    .include "fact.inc"
    .macro follow offset
    ld a2, \offset(a1)      # 0
    add a1, a1, a2
    .endm
    begin
    la a1, area
    follow 0
    follow 128
    follow 0
    follow 256
used: ld a2, 0(a1)
    add a1, a1, a2
oldest: ld a2, 128(a1)
    finish
