#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes branch.predictor=static branch.btb_entries=0
#: expect count(wrong.store) == 1
#: expect exit_status == 0
#: expect events.stores == 0
#: expect events.stores_spec == 1
#: expect complete(load) - issue(load) == 2
#: expect issue(load) - dispatch(load) == 1
#
# The wrong path computes the address of a store while the branch waits for a quotient. The store is gone before the
# right path's load enters, so that one neither waits for it nor gets its data: the word is still 0, the exit status.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    div a3, a2, a2
    li a7, 93
    beq a3, a2, right
store: sd a2, 0(a1)
    nop
right:
load: ld a0, 0(a1)
    ecall
