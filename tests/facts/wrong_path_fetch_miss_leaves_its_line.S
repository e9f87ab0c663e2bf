#: set perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: expect count(wrong.elsewhere) == 0
#: expect fetch(elsewhere) - fetch(jump) <= 1
#: expect events.l1i_access_misses_spec == 2
#: expect events.l1i_misses == 1
#
# The wrong path asks for the line of `elsewhere` one cycle after the branch was fetched, at f + 1, and does not live to
# see it come at f + 260. The right path waits for a load from memory, which issues at f + 8 (5 + 3) and completes at f
# + 269; fence.i commits after it, and the jump that is fetched then finds the line in the cache: at most 1 instead of
# 260.
    .include "fact.inc"
    .text
    .balign 64
elsewhere: nop
    finish
    begin
    la a1, area
    ld a2, 0(a1)
    bne x0, x0, elsewhere
    fence.i
jump: j elsewhere
