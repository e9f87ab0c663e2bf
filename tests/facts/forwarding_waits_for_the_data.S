#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect issue(load) - issue(store) == 1
#: expect complete(store) - complete(slow) == 0
#: expect last_issue(load) - complete(slow) == 0
#: expect complete(load) - complete(slow) == 2
#
# The store's address is known early, its data is a quotient. The load finds the store, is sent back, and issues again
# in the cycle in which the data comes: forwarded 2 later.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
slow: div a3, a2, a2
store: sd a3, 0(a1)
load: ld a4, 0(a1)
    finish
