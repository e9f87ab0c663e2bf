#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0
#: run l1d.prefetch=next_line
#: expect complete(next) - issue(next) == 2
#: expect events.l1d_useful_prefetches == 1
#: expect events.l1d_prefetches == 2
#: expect events.l1d_access_misses_spec == 1
#: run
#: expect complete(next) - issue(next) == 252
#
# The first miss asks for the next line, too, which arrives with its own; the dependent load finds it. Its first use
# asks for one more.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    add a3, a1, a2
next: ld a4, 32(a3)
    finish
