#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: expect complete(wrong.get) - issue(wrong.get) == 2
#: expect complete(late) - issue(wrong.follow) == 261
#: expect events.forwards == 1
#
# The wrong path stores an address, loads it back (forwarded, 2 cycles) and follows it: it reaches the line that the
# right path wants, so it has seen its own store. In memory that word is 0, where there is nothing to load.
    .include "fact.inc"
    begin
    la a1, area
    addi a6, a1, 512
    li a2, 1
    div a3, a2, a2
    beq a3, a2, right
    sd a6, 0(a1)
get: ld a4, 0(a1)
follow: ld a5, 0(a4)
    ecall                   # the wrong path ends here
right:
late: ld a5, 0(a6)
    finish
