#: set branch.predictor=static perfect.l1i=yes perfect.itlb=yes memory.latency=2000
#: expect events.mispredictions == 1
#: expect events.mispredictions_spec >= 40
#
# The first branch waits for a load from memory, 2000 cycles, and is predicted taken, wrongly. On that wrong path every block
# has a branch of its own that is mispredicted (forward, so predicted not taken, and taken) after a division of 20 cycles;
# behind it, on a wrong path of the wrong path, are stores to 30 new places. A block takes less than 50 cycles, so at least
# 40 of them resolve: 1200 places in all, of which only those of the last block may be remembered. The program ends because
# what a wrong path stored is forgotten when it is left.
    .include "fact.inc"
    .macro block
    div t1, t4, t5
    bnez t1, 1f
    .set place, 0
    .rept 30
    sd t5, place(s0)
    .set place, place + 8
    .endr
1:  addi s0, s0, 512
    .endm
    begin
    la s0, area
    la t2, missing
    li t4, 1000
    li t5, 7
    j main
back: j blocks
main: ld t0, 0(t2)
    bnez t0, back
    finish
blocks:
    .rept 60
    block
    .endr
    j blocks
    .bss
    .balign 4096
missing:
    .space 64
