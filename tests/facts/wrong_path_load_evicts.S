#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.ways=1 branch.predictor=static branch.btb_entries=0
#: run
#: expect count(wrong.other) == 1
#: expect complete(again) - issue(again) == 11
#: run perfect.branch=yes
#: expect complete(again) - issue(again) == 2
#
# The first cache is direct-mapped, 16 KB. The wrong path loads what lies 16 KB behind a line that is there, which takes
# its place; the right path finds it in the second cache only: 2 + 9. Without the wrong path it hits.
    .include "fact.inc"
    begin
    la a1, area
    li a6, 16384
    add a6, a6, a1
    ld a4, 0(a1)
    li a2, 1
    fence.i                 # the line is there when what follows is fetched
    div a3, a2, a2
    beq a3, a2, again
other: ld a4, 0(a6)
    ecall                   # the wrong path ends here
again: ld a5, 0(a1)
    finish
