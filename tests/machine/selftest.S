# What machine mode must do, checked by itself: 8 tells the number of the first check that failed, or 0 when all held; 9 how
# many were made.
    .include "firmware.inc"

    .macro check register, value    # they are equal
    addi s0, s0, 1
    li t6, \value
    beq \register, t6, 9f
    bnez s1, 9f
    mv s1, s0
9:
    .endm

    .macro traps cause, value       # the last instruction did so, once: the handler has seen it and gone behind it
    check s2, \cause
    check s3, \value
    check s5, 1
    li s5, 0
    .endm

    start
    check a0, 0                     # hart
    add t0, a1, a2
    check t0, 0x4004000000          # free memory ends there
    csrr t0, mhartid
    check t0, 0
    csrr t0, misa
    check t0, 0

    csrr t0, mepc
    check t0, PROGRAM
    csrr t0, mstatus
    check t0, 0
    csrr t0, mcounteren
    check t0, 0xffffffff
    csrr t0, mcountinhibit
    check t0, 0

    # CSRs hold what is theirs and nothing else
    li t1, -1
    csrw mstatus, t1
    csrr t0, mstatus
    check t0, MPP | MPIE | MIE
    li t1, 1 << 11                  # no supervisor mode
    csrw mstatus, t1
    csrr t0, mstatus
    check t0, 0
    li t1, -1
    csrw mie, t1
    csrr t0, mie
    check t0, LCOFI | MSI
    csrw mie, zero
    csrrs t0, mip, t1
    check t0, 0
    csrrc t0, mip, t1
    check t0, LCOFI | MSI
    csrr t0, mip
    check t0, 0
    csrrw t0, mepc, t1
    csrrw t0, mepc, t0
    check t0, -2
    csrr t0, mtvec
    addi t1, t0, 3                  # vectored is not there
    csrw mtvec, t1
    csrr t1, mtvec
    sub t0, t0, t1
    check t0, 0
    li t1, -1
    csrw mcountinhibit, t1
    csrr t0, mcountinhibit
    check t0, 0xfffffffd            # not of time
    csrw mcountinhibit, zero
    csrrwi t0, mcounteren, 5
    csrr t0, mcounteren
    check t0, 5
    li t1, -1
    csrw mcounteren, t1

    li t1, -1
    csrw satp, t1
    csrr t0, satp
    check t0, 0                     # the only program

    # the core's own counters, by mode
    csrw 0x321, t1                  # mcyclecfg
    csrr t0, 0x321
    check t0, MINH | UINH
    csrw 0x322, t1                  # minstretcfg
    csrr t0, 0x322
    check t0, MINH | UINH
    li t1, MINH
    csrw 0x321, t1
    csrw 0x322, t1
    csrr t0, mcycle
    csrr t1, mcycle
    sub t0, t0, t1
    check t0, 0
    csrr t0, minstret
    csrr t1, minstret
    sub t0, t0, t1
    check t0, 0
    li t1, UINH
    csrw 0x322, t1
    csrw 0x321, zero
    csrr t0, minstret
    csrr t1, minstret
    sub t0, t1, t0
    check t0, 1
    csrr t0, mcycle
    csrr t1, mcycle
    sltu t0, t0, t1
    check t0, 1
    csrw 0x322, zero
    li t1, MSI                      # software can ask for it, and it has a cause of its own
    csrw mie, t1
    csrw mip, t1
    csrsi mstatus, 8
    csrci mstatus, 8
    check s5, 1
    check s2, 1 << 63 | 3
    li s5, 0
    csrw mie, zero

    # counters that the core has not, and events that are none
    li t1, 12345
    csrw mhpmcounter10, t1
    csrr t0, mhpmcounter10
    check t0, 12345
    csrr t0, hpmcounter10
    check t0, 12345
    csrw mhpmcounter10, zero
    csrw mhpmcounter11, t1
    csrr t0, mhpmcounter11
    check t0, 0
    li t1, COMMITTED
    csrw mhpmevent11, t1
    csrr t0, mhpmevent11
    check t0, 0
    csrw mhpmevent4, t1
    csrr t0, mhpmevent4
    check t0, COMMITTED
    li t1, 4095                     # no such event
    csrw mhpmevent4, t1
    csrr t0, mhpmevent4
    check t0, 0
    li t1, COMMITTED | 1 << 12      # it has no sub-events
    csrw mhpmevent4, t1
    csrr t0, mhpmevent4
    check t0, 0
    li t1, COMMITTED | 2 << 42      # nor a wrong path
    csrw mhpmevent4, t1
    csrr t0, mhpmevent4
    check t0, 0
    li t1, COMMITTED | 1 << 41      # nothing to invert
    csrw mhpmevent4, t1
    csrr t0, mhpmevent4
    check t0, 0
    li t1, COMMITTED | 1 << 44      # a bit without a meaning
    csrw mhpmevent4, t1
    csrr t0, mhpmevent4
    check t0, 0
    li t1, LOADS | 2 << 42 | 3 << 12 | 2 << 28 | 3 << 40 | MINH | UINH | OF | 1 << 61
    csrw mhpmevent4, t1
    csrr t0, mhpmevent4
    check t0, LOADS | 2 << 42 | 3 << 12 | 2 << 28 | 3 << 40 | MINH | UINH | OF
    csrr t0, 0xda0                  # scountovf
    check t0, 1 << 4
    csrw mhpmevent4, zero

    # overflow: the third instruction behind the write makes it, with the interrupt off and then on
    li t1, COMMITTED
    csrw mhpmevent5, t1
    li t1, -3
    csrw mhpmcounter5, t1
    csrr t0, 0xda0                  # 1
    csrr t2, mip                    # 2
    csrr t3, 0xda0                  # 3: reads before it retires
    csrr t4, 0xda0
    csrr t5, mip
    check t0, 0
    check t2, 0
    check t3, 0
    check t4, 1 << 5
    check t5, LCOFI
    csrr t0, mhpmevent5
    check t0, COMMITTED | OF
    li t1, LCOFI
    csrc mip, t1
    li t1, -2
    csrw mhpmcounter5, t1           # with OF set it does not interrupt again
    nop
    nop
    nop
    csrr t0, mip
    check t0, 0
    li t1, OF
    csrc mhpmevent5, t1
    csrr t0, 0xda0
    check t0, 0
    li t1, LCOFI
    csrw mie, t1
    li t1, -2
    csrw mhpmcounter5, t1
    csrsi mstatus, 8                # on, in machine mode
    nop
    nop
    nop
    nop
    csrci mstatus, 8
    check s5, 1
    check s2, 1 << 63 | 13
    li s5, 0
    csrw mhpmevent5, zero
    csrw mie, zero

    # exceptions of machine mode trap to mtvec
    csrsi mstatus, 8
    ecall
    traps 11, 0
    csrr t0, mstatus
    andi t0, t0, 0x8                # mret has put it back
    check t0, MIE
    check s6, MPP | MPIE            # in the handler: from machine mode, with interrupts off
    ebreak
    traps 3, 0
    .word 0xffffffff
    traps 2, 0xffffffff
    csrw mhartid, zero              # read-only
    traps 2, 0xf1401073
    csrr t0, 0x105                  # stvec
    traps 2, 0x105022f3
    li t0, 0x1000
    ld t0, 0(t0)
    traps 5, 0x1000
    li t0, 0x1000
    sd t0, 0(t0)
    traps 7, 0x1000
    li t0, 0x4003fffffc
    ld t0, 0(t0)                    # its end lies behind the memory's
    traps 5, 0x4003fffffc
    la t0, saved + 4
    amoadd.d t0, t0, (t0)
    la t1, saved + 4
    sub s3, s3, t1
    traps 6, 0
    jalr t1, -1(zero)               # no code there
back:
    traps 1, -2

    # what a wrong path writes is not written: counter 6 counts the ones of a word that no predictor knows
    li t1, 0x9d2c5a37
    li t2, 32
1:  andi t3, t1, 1
    srli t1, t1, 1
    beqz t3, 2f
    csrr t4, mhpmcounter6
    addi t4, t4, 1
    csrw mhpmcounter6, t4
2:  addi t2, t2, -1
    bnez t2, 1b
    csrr t0, mhpmcounter6
    check t0, 17

    # memory of the program can be read
    li t0, PROGRAM
    lw t0, 0(t0)
    check t0, FIRST_WORD

    wfi
    csrw mstatus, zero
    li t0, PROGRAM
    csrw mepc, t0
    csrw mhpmcounter8, s1
    csrw mhpmcounter9, s0
    to_program

    # Goes on behind what trapped, a fetch that failed at the label `back`.
    .balign 4
handler:
    csrr s2, mcause
    csrr s3, mtval
    csrr s6, mstatus
    addi s5, s5, 1
    csrr s4, mepc
    bltz s2, interrupted
    addi s4, s4, 4
    li s7, 1
    bne s2, s7, 1f
    la s4, back
1:  csrw mepc, s4
    mret
interrupted:
    li s7, LCOFI | MSI
    csrc mip, s7
    mret
