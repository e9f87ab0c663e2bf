#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: expect count(wrong.early) == 1
#: expect complete(late) - issue(wrong.early) == 261
#: expect complete(late) - issue(late) == 235
#: expect events.l1d_misses == 1
#: expect events.l1d_access_misses_spec == 2
#
# The branch waits for a quotient: it issues at d + 22 (li at d + 1, div at d + 2) and resolves at d + 23. Meanwhile the
# wrong path loads from a line that is in no cache, at d + 3, when its address is ready. The right path dispatches its
# load of the same line at d + 28 and issues it at d + 29: it waits for what the wrong path has asked for, 26 cycles
# less than 261.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    div a3, a2, a2
    beq a3, a2, right
early: ld a4, 0(a1)
    ecall                   # the wrong path ends here
right:
late: ld a5, 0(a1)
    finish
