# A context for each address space: counters 3 (EVENT of user mode) and 4 (instructions of user mode), minstret and mcycle
# (of user mode) are saved when another context comes, and restored when it comes back. Counter 8 is how often the program
# came, 9 the errors, 10 the number of all switches. With PERIOD, counter 5 interrupts every PERIOD cycles; counter 7 is the
# number of these interrupts.
    .include "firmware.inc"

    .bss
    .balign 64
contexts:
    .space 64 * 64          # 3, 4, minstret, mcycle, how often it came
current:
    .space 8
wrong:
    .space 8
switches:
    .space 8
overflows:
    .space 8

    .macro count_up what    # t3, t4
    la t3, \what
    ld t4, 0(t3)
    addi t4, t4, 1
    sd t4, 0(t3)
    .endm

    start
    li t1, MINH
    csrw 0x321, t1          # mcyclecfg
    csrw 0x322, t1          # minstretcfg
    csrw mcycle, zero
    csrw minstret, zero
    li t0, EVENT
    or t0, t0, t1
    csrw mhpmevent3, t0
    li t0, COMMITTED
    or t0, t0, t1
    csrw mhpmevent4, t0
#ifdef PERIOD
    li t0, CYCLES
    or t0, t0, t1
    csrw mhpmevent5, t0
    li t0, -PERIOD
    csrw mhpmcounter5, t0
#endif
    li t0, LCOFI | MSI
    csrw mie, t0
    csrr t0, satp           # the first program has 0
    snez t0, t0
    la t1, wrong
    sd t0, 0(t1)
    to_program

    .balign 4
handler:
    save
    csrr t1, mcause
    li t2, 1 << 63 | 13
    beq t1, t2, overflow
    li t2, 1 << 63 | 3
    beq t1, t2, switch
failed:
    count_up wrong
    csrw mhpmcounter9, t4
    li t1, LCOFI | MSI
    csrc mip, t1
    restore
    mret

switch:
    count_up switches
    csrw mhpmcounter10, t4
    la t0, current
    ld t1, 0(t0)
    csrr t2, satp
    srli t2, t2, 44
    sd t2, 0(t0)
    beq t1, t2, failed
    la t3, contexts
    slli t1, t1, 6
    add t1, t1, t3
    slli t2, t2, 6
    add t2, t2, t3
    csrr t4, mhpmcounter3
    sd t4, 0(t1)
    csrr t4, mhpmcounter4
    sd t4, 8(t1)
    csrr t4, minstret
    sd t4, 16(t1)
    csrr t4, mcycle
    sd t4, 24(t1)
    ld t4, 0(t2)
    csrw mhpmcounter3, t4
    ld t4, 8(t2)
    csrw mhpmcounter4, t4
    ld t4, 16(t2)
    csrw minstret, t4
    ld t4, 24(t2)
    csrw mcycle, t4
    ld t4, 32(t2)
    addi t4, t4, 1
    sd t4, 32(t2)
    csrw mhpmcounter8, t4
    li t1, MSI
    csrc mip, t1
    restore
    mret

overflow:
    csrr t1, mip
    andi t1, t1, MSI        # that would have come first
    bnez t1, failed
    count_up overflows
    csrw mhpmcounter7, t4
#ifdef PERIOD
    csrr t1, mhpmcounter5
    li t2, -PERIOD
    add t1, t1, t2
    csrw mhpmcounter5, t1
#endif
    li t1, OF
    csrc mhpmevent5, t1
    li t1, LCOFI
    csrc mip, t1
    restore
    mret
