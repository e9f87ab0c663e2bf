#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes
#: expect last_issue(store) - issue(store) == 30
#: expect issue(load) - issue(store) == 31
#: expect complete(load) - issue(load) == 2
#
# The store is sent back for the walk and knows its address a cycle after its second issue. Only then may the load go;
# it finds the translation.
    .include "fact.inc"
    begin
    la a1, area
store: sd x0, 0(a1)
load: ld a2, 64(a1)
    finish
