#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect commit(store) - complete(load) == 1
#: expect issue(order) - commit(store) == 2
#: expect events.l1d_access_misses_spec == 1
#
# The store commits behind a load of the same line, which is there by then: it hits and leaves after a cycle.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
store: sd x0, 8(a1)
order: fence
    finish
