#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: counter addresses load_address_mispredictions
#: counter values load_value_mispredictions
#: counter all loads
#: expect counter.all == 3 * 10
#: expect counter.addresses == 3 + 1 + 1
#: expect counter.values == 1 + 3 + 3
#
# An instruction's first load is a surprise. Its predictor begins with a stride of 0, and takes another one when it has
# seen it twice in a row: a sequence with another stride surprises three times, one that stands still once. The first load
# walks over zeros; the others stay where they are and find what grows by 5 and by 7 in each round.
    .include "fact.inc"
    begin
    la a1, area
    addi a2, a1, 128
    addi a3, a1, 192
    li a4, 10
again: ld a5, 0(a1)
    ld a6, 0(a2)
    ld a7, 0(a3)
    addi a6, a6, 5
    addi a7, a7, 7
    sd a6, 0(a2)
    sd a7, 0(a3)
    addi a1, a1, 8
    addi a4, a4, -1
    bnez a4, again
    finish
