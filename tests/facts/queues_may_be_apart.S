#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes iq.int=2
#: expect dispatch(float) - dispatch(second) == 0
#: expect dispatch(third) - issue(second) == 0
#
# Two integer instructions wait for the load's data and fill their queue. A load and a floating-point instruction have
# queues of their own; the next integer instruction enters when the two issue.
    .include "fact.inc"
    begin
    la a1, area
    nops 4
    ld a2, 0(a1)
    addi a3, a2, 1
    nop
    nop
second: addi a4, a2, 2
    ld a5, 8(a1)
float: fmv.d.x fa0, x0
third: nop
    finish
