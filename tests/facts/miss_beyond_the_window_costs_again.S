#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes rob.size=16
#: expect dispatch(b) - commit(a) == 1
#: expect commit(b) - commit(a) == 264
#
# The second load is the 20th behind the first, with a ROB of 16. When the first commits, at t, three more do; four
# enter, up to the 19th. The second load enters at t + 1, issues at t + 2, completes 261 later and commits at t + 264.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
    nops 19
b:  ld a3, 128(a1)
    finish
