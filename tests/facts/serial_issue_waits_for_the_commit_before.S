#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes issue.order=in_order_serial
#: expect issue(b) - commit(a) == 0
#: expect issue(b) - issue(a) == 2
#: expect issue(c) - issue(b) == 2
#: expect issue(d) - issue(c) == 3
#: expect issue(e) - issue(d) == 4
#: expect issue(f) - issue(e) == 2
#: expect issue(end) - issue(f) == 21
#
# An instruction issues in the cycle in which the one before commits, which is a cycle after its completion: each takes
# its latency and one more. Additions 2, a load 3, a multiplication 4, a store 2, a division 21.
    .include "fact.inc"
    begin
    la a1, area
a:  addi a2, x0, 1
b:  addi a3, x0, 1
c:  ld a4, 0(a1)
d:  mul a5, a2, a3
e:  sd a2, 0(a1)
f:  div a6, a2, a3
end: nop
    finish
