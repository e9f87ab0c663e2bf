# Counter 3 counts EVENT and interrupts every PERIOD: the handler counts interrupts and where they hit, in its own memory,
# tells the program (8: interrupts, 9: those in the program's loop, 10: the histogram's sum, 7: the most that was counted
# between overflow and handler) and adds the next period, so that what passed meanwhile is part of it. Counter 4 counts
# OTHER, if that is given.
    .include "firmware.inc"

    .bss
    .balign 8
interrupts:
    .space 8
histogram:
    .space 8 * 64           # by instruction of the loop, which has fewer
elsewhere:
    .space 8

    start
    li t0, EVENT
    csrw mhpmevent3, t0
    li t0, -PERIOD
    csrw mhpmcounter3, t0
#ifdef OTHER
    li t0, OTHER
    csrw mhpmevent4, t0
#endif
    li t0, LCOFI
    csrw mie, t0
    to_program

    .balign 4
handler:
    save
    la t0, interrupts
    ld t1, 0(t0)
    addi t1, t1, 1
    sd t1, 0(t0)
    csrw mhpmcounter8, t1

    csrr t1, mepc
    li t2, LOOP
    sub t1, t1, t2
    srli t1, t1, 2
    li t2, 64
    la t3, elsewhere
    bgeu t1, t2, 1f
    slli t1, t1, 3
    la t3, histogram
    add t3, t3, t1
1:  ld t1, 0(t3)
    addi t1, t1, 1
    sd t1, 0(t3)

    la t3, histogram
    li t1, 0
2:  ld t4, 0(t3)
    add t1, t1, t4
    addi t3, t3, 8
    addi t2, t2, -1
    bnez t2, 2b
    csrw mhpmcounter9, t1
    ld t4, 0(t3)
    add t1, t1, t4
    csrw mhpmcounter10, t1

    csrr t1, mhpmcounter3
    csrr t2, mhpmcounter7
    bgeu t2, t1, 3f
    csrw mhpmcounter7, t1
3:  li t2, -PERIOD
    add t1, t1, t2
    csrw mhpmcounter3, t1
    li t1, OF
    csrc mhpmevent3, t1
    li t1, LCOFI
    csrc mip, t1
    restore
    mret
