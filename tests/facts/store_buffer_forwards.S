#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect issue(load) > commit(store)
#: expect complete(load) - issue(load) == 2
#: expect events.forwards == 1
#
# The store commits at d + 5 and waits in the store buffer for its line, 261 cycles. The load's address is the sum of a
# quotient: it comes 20 cycles later and still gets the data from there.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
store: sd a2, 0(a1)
    div a3, x0, a2          # 0
    add a5, a1, a3
load: ld a4, 0(a5)
    finish
