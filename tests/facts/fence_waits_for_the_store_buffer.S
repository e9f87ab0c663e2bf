#: set perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect issue(order) - commit(store) == 262
#: expect complete(order) - issue(order) == 1
#: expect dispatch(order) < issue(order) - 1
#: run perfect.l1d=yes perfect.l1i=yes
#: expect issue(order) - commit(store) == 2
#
# The store misses: it leaves the store buffer 261 after its commit, and the fence, which is alone in the window by then
# (its own line came from memory), issues a cycle later. A store that hits leaves after 1.
    .include "fact.inc"
    begin
    la a1, area
    li a0, 0
    li a7, 93
store: sd x0, 0(a1)
    j order
    .balign 64
order: fence
    ecall
