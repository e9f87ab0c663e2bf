#: core ppc970-inorder
#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect issue(b) - issue(a) == 3
#: expect issue(c) - issue(b) == 3
#: expect issue(d) - issue(c) == 4
#: expect issue(end) - issue(d) == 8
#
# Each instruction takes its latency and a cycle for commit: additions 2 + 1, a load 3 + 1, a multiplication 7 + 1.
    .include "fact.inc"
    begin
    la s1, area
a:  addi a2, x0, 1
b:  addi a3, x0, 1
c:  ld a4, 0(s1)
d:  mul a5, a2, a3
end: nop
    finish
