#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect issue(b) - issue(a) == 1
#: expect issue(b) - complete(a) == 0
#: expect issue(c) - issue(a) == 2
#: run alu.latency=3
#: expect issue(b) - issue(a) == 3
#: expect issue(c) - issue(a) == 6
#
# Results are bypassed: what depends on a result issues in the cycle in which that completes, alu.latency after the
# producer. All three dispatch together (instructions 0 to 2), so nothing else holds them up.
    .include "fact.inc"
    begin
a:  addi a1, x0, 1
b:  addi a1, a1, 1
c:  addi a1, a1, 1
    finish
