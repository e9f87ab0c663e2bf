#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect issue(atomic) - commit(store) == 262
#: expect complete(atomic) - issue(atomic) == 2
#
# The store must have left the store buffer, 261 after its commit with its line; the atomic goes a cycle later and hits
# that line.
    .include "fact.inc"
    begin
    la a1, area
store: sd x0, 0(a1)
atomic: amoadd.d a4, x0, (a1)
    finish
