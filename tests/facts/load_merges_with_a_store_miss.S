#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(load) - commit(store) == 261
#: expect events.forwards == 0
#: expect events.l1d_merges_spec == 1
#
# The store asks for its line when it commits. A load of other bytes of that line, 20 cycles later, waits for that line.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
store: sd a2, 0(a1)
    div a3, x0, a2          # 0
    add a5, a1, a3
load: ld a4, 8(a5)
    finish
