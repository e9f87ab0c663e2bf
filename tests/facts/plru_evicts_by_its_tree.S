#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.size=128 l1d.ways=4
#: run l1d.replacement=plru
#: expect complete(b) - issue(b) == 2
#: expect complete(c) - issue(c) == 11
#: run l1d.replacement=lru
#: expect complete(b) - issue(b) == 11
#
# One set of four ways, filled in order by A, B, C and D; then A is used once more and E comes. The tree's root points
# away from A's half, to C and D, and there away from D, which was used last: C leaves. The oldest use is that of B,
# which leaves under lru.
    .include "fact.inc"
    .macro follow offset
    ld a2, \offset(a1)      # 0
    add a1, a1, a2
    .endm
    begin
    la a1, area
    follow 0
    follow 128
    follow 256
    follow 384
    follow 0
    follow 512
b:  ld a2, 128(a1)
    add a1, a1, a2
c:  ld a2, 256(a1)
    finish
