#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run
#: expect issue(b) - issue(a) == 0
#: expect complete(b) - complete(a) == 0
#: expect complete(b) - issue(b) == 11
#: run l2.ports=1
#: expect complete(a) - issue(a) == 11
#: expect complete(b) - complete(a) == 1
#
# Two lines that only the second cache has (the other halves of its lines came to the first) are asked for at once; with
# one port the second access begins a cycle later.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    ld a3, 128(a1)          # 0
    add a4, a1, a2
    add a4, a4, a3
a:  ld a5, 32(a4)
b:  ld a6, 160(a4)
    finish
