#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect issue(d) - issue(a) == 0
#: run units.alu=1
#: expect issue(b) - issue(a) == 1
#: expect issue(c) - issue(a) == 2
#: expect issue(d) - issue(a) == 3
#: run units.alu=2
#: expect issue(b) - issue(a) == 0
#: expect issue(c) - issue(a) == 1
#: expect issue(d) - issue(a) == 1
#
# Four independent additions that dispatch together go as there are units, oldest first. (The four before them do, too,
# and are older.)
    .include "fact.inc"
    begin
    nops 4
a:  addi a1, x0, 1
b:  addi a2, x0, 2
c:  addi a3, x0, 3
d:  addi a4, x0, 4
    finish
