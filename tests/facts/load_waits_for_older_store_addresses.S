#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: expect issue(store) - complete(slow) == 1
#: expect issue(load) - issue(store) == 1
#: expect issue(later) - issue(store) == 1
#: expect issue(other) - dispatch(other) == 1
#: expect events.issued == 13
#
# The address of the store is the sum of a quotient, so it issues 1 after that. Loads behind it, also of other places,
# wait until it is known, 1 later; they do not try before (each of the 13 instructions issues once). Additions do not
# wait.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
slow: div a3, x0, a2        # 0
    add a5, a1, a3
store: sd a2, 0(a5)
load: ld a4, 64(a1)
later: ld a6, 128(a1)
    nop
other: addi s1, x0, 1
    finish
