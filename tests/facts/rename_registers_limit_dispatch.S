#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes rename.int_regs=35
#: expect dispatch(third) - dispatch(load) == 4
#: expect dispatch(none) - dispatch(third) == 0
#: expect dispatch(fourth) - commit(load) == 0
#
# Four registers besides the 31: the first four instructions (two of la, the load, one more) take them at d. The next
# two enter as those of la commit, at d + 3 and d + 4; the second of these is `third`. Then the load's and three more
# are taken. An instruction without result still enters; the next with one waits for the commit of the load.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    addi a3, x0, 1
    addi a4, x0, 2
third: addi a5, x0, 3
none: nop
fourth: addi a6, x0, 4
    finish
