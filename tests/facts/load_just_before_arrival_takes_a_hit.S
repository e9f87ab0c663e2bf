#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes memory.latency=10
#: expect complete(a) - issue(a) == 21
#: expect issue(b) - issue(a) == 20
#: expect complete(b) - issue(a) == 22
#
# The line is there 2 + 9 + 10 = 21 after the first load issued. The second one issues at 20 (its address is a quotient,
# div.latency after the same cycle): no access is faster than a hit, so it completes at 22 and not at 21.
    .include "fact.inc"
    begin
    li a5, 1
    la a1, area
a:  ld a2, 0(a1)
    div a4, a1, a5
b:  ld a3, 8(a4)
    finish
