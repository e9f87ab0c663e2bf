#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(split) - issue(split) == 11
#: expect events.l1d_accesses_spec == 3
#: expect events.l1d_access_misses_spec == 2
#
# Bytes 28 to 35: the first line is there and would take 2 cycles, the second one is in the second cache only (the
# other half of the same line there): 2 + 9. Each line is an access.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    add a3, a1, a2
split: ld a4, 28(a3)
    finish
