#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes rob.size=16
#: expect dispatch(fits) - dispatch(load) == 4
#: expect dispatch(waits) - commit(load) == 0
#: expect cycles_by.dispatch.rob == 261
#
# The load (instruction 2) and the 15 behind it fill the ROB; `fits` is instruction 17, so it dispatches at d + 4, when
# the two before the load have left. The next one enters in the cycle in which the load commits, since commit comes
# before dispatch. The load issues at d + 3 (its address takes two dependent instructions), completes at d + 264 and
# commits at d + 265: dispatch is stopped from d + 4, where it brings two instead of four, to d + 264.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    nops 14
fits: nop
waits: nop
    finish
