#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect issue(load) - issue(store) == 1
#: expect complete(load) - issue(load) == 2
#: expect complete(store) - complete(slow) == 0
#: expect complete(load) < complete(slow)
#
# The address of the store is enough for a load of another place; data comes later.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
slow: div a3, a2, a2
store: sd a3, 0(a1)
load: ld a4, 64(a1)
    finish
