#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: set dispatch.bundle=5 dispatch.width=5 decode.width=5 commit.width=5 rob.size=100
#: expect issue(atomic) > commit(store)
#: expect issue(order) > commit(atomic)
#: expect exit_status == 1
#
# A bundle commits as a whole, and an atomic or a fence issues when older stores have left the store buffer, behind
# their commit: so neither shares a bundle with a store before it.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
store: sd a2, 0(a1)
atomic: amoadd.d a0, a2, (a1)
order: fence
    li a7, 93
    ecall
