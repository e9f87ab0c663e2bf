#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: set dispatch.bundle=5 dispatch.width=5 decode.width=5 commit.width=5 rob.size=100
#: expect complete(load) > complete(store)
#: expect exit_status == 7
#
# A store of four bytes and a load of eight over it, four instructions of one bundle: the load must not wait for a
# commit that waits for the load.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 7
store: sw a2, 0(a1)
load: ld a0, 0(a1)
    li a7, 93
    ecall
