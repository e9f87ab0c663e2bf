#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run
#: expect commit(b) - commit(a) == 0
#: expect issue(order) - commit(a) == 262
#: run l1d.mshrs=1
#: expect issue(order) - commit(a) == 523
#
# The fence issues a cycle after both stores have left the store buffer. They ask for their lines in the cycle t of
# their commit, so both leave at t + 261. With one MSHR the second asks when the first line is there: t + 522.
    .include "fact.inc"
    begin
    la a1, area
a:  sd x0, 0(a1)
b:  sd x0, 128(a1)
order: fence
    finish
