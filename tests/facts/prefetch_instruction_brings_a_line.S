#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(prefetch) - issue(prefetch) == 1
#: expect issue(prefetch) - issue(first) == 0
#: expect complete(later) - issue(later) == 2
#
# prefetch.r takes a cycle and waits for nothing; the line is there when the load, which depends on another one from
# memory, comes.
    .include "fact.inc"
    begin
    la a1, area
first: ld a2, 0(a1)         # 0
prefetch: ori x0, a1, 128 + 1   # prefetch.r 128(a1)
    add a3, a1, a2
later: ld a4, 128(a3)
    finish
