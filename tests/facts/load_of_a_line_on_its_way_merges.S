#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect issue(b) - issue(a) == 3
#: expect complete(b) - complete(a) == 0
#: expect events.l1d_access_misses_spec == 2
#: expect events.l1d_merges_spec == 1
#: expect events.l2d_accesses_spec == 1
#
# Both loads wait for one line. The address of the second comes from a multiplication that issues with the first load,
# so it issues 3 later, and completes when the line is there. It asks the second cache for nothing.
    .include "fact.inc"
    begin
    li a5, 1
    la a1, area
a:  ld a2, 0(a1)
    mul a4, a1, a5
b:  ld a3, 8(a4)
    finish
