#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes
#: expect complete(slow) - issue(slow) == 32
#: expect issue(fast) - issue(slow) == 0
#: expect complete(fast) - issue(fast) == 2
#
# Two loads whose addresses become ready together. The older one is sent back for a walk; the younger one, of a page
# whose translation is there, goes past it.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0: its page is known then
    add a1, a1, a2
    li s1, 4096
    add s1, s1, a1
    addi a1, a1, 0
slow: ld a3, 0(s1)
fast: ld a4, 8(a1)
    finish
