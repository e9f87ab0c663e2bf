#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.prefetch=next_line
#: expect issue(next) - issue(first) == 20
#: expect complete(next) - complete(first) == 0
#: expect events.l1d_merges_spec == 1
#
# The second load comes 20 cycles after the first one's miss (its address is a quotient) and finds its line on the way
# since then.
    .include "fact.inc"
    begin
    li a5, 1
    la a1, area
first: ld a2, 0(a1)
    div a4, a1, a5
next: ld a3, 32(a4)
    finish
