#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(load) - complete(slow) == 2
#: expect exit_status == 3
#
# Two stores to one place; the younger one's data comes late and is what the load must get.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    li a4, 3
slow: div a3, a4, a2        # 3
    sd a2, 0(a1)
    sd a3, 0(a1)
load: ld a0, 0(a1)
    li a7, 93
    ecall
