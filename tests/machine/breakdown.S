# Counts the program's cycles, its completion cycles and its stalls, and looks at all three every PERIOD cycles: unless
# they add up exactly, the run ends with an error, as the handler's first instruction traps from then on. CYCLES,
# COMPLETION and STALLS are the numbers of the events.
    .include "firmware.inc"

    start
    li t0, CYCLES | MINH
    csrw mhpmevent3, t0
    csrw mhpmevent4, t0
    li t0, -PERIOD
    csrw mhpmcounter3, t0
    li t0, COMPLETION | MINH
    csrw mhpmevent5, t0
    li t0, STALLS | MINH
    csrw mhpmevent6, t0
    li t0, LCOFI
    csrw mie, t0
    to_program

    .balign 4
wrong:
    unimp

    .balign 4
handler:
    save
    csrr t1, mhpmcounter5
    csrr t2, mhpmcounter6
    csrr t3, mhpmcounter4
    add t1, t1, t2
    beq t1, t3, 1f
    la t0, wrong
    csrw mtvec, t0
    j wrong
1:  li t1, -PERIOD
    csrw mhpmcounter3, t1
    li t1, OF
    csrc mhpmevent3, t1
    li t1, LCOFI
    csrc mip, t1
    restore
    mret
