#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect last_issue(load) - commit(store) == 2
#: expect events.rejects_overlap == 1
#: expect events.issued == 10
#
# As with any partial overlap the load waits until the store has left the store buffer. That the store's data comes in
# between, a quotient, changes nothing: nine instructions issue, and only the load twice.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    div a3, a2, a2
store: sw a3, 0(a1)
load: ld a4, 0(a1)
    finish
