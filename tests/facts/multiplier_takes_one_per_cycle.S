#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect issue(b) - issue(a) == 1
#: expect issue(c) - issue(a) == 2
#: expect complete(c) - issue(c) == 3
#: run mul.pipelined=no
#: expect issue(b) - issue(a) == 3
#: expect issue(c) - issue(a) == 6
#: run units.muldiv=2
#: expect issue(b) - issue(a) == 0
#: expect issue(c) - issue(a) == 1
#: run mul.latency=7
#: expect issue(b) - issue(a) == 1
#: expect complete(a) - issue(a) == 7
#
# Three independent multiplications that dispatch together (instructions 4 to 6) and have their operands. One unit takes
# one per cycle, or one per latency if it is not pipelined; two units take two.
    .include "fact.inc"
    begin
    li a1, 3
    li a2, 5
    nops 2
a:  mul a3, a1, a2
b:  mul a4, a1, a2
c:  mul a5, a1, a2
    finish
