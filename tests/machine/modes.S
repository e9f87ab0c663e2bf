# Instructions of machine mode (3), of user mode (4), of both (5), and of neither (6), from a moment on after which the
# firmware executes BEFORE + 1 instructions. In machine mode 7 is stopped by mcountinhibit after 3 more than it takes, and
# tells so by 8; the core's own counters are stopped and set meanwhile: 9 is what minstret reads then, 10 mcycle.
    .include "firmware.inc"
    start
    csrwi mcountinhibit, 0
    li t0, -1
    csrw mcountinhibit, t0
    li t1, COMMITTED
    li t0, UINH
    or t0, t0, t1
    csrw mhpmevent3, t0
    li t0, MINH
    or t0, t0, t1
    csrw mhpmevent4, t0
    csrw mhpmevent5, t1
    li t0, MINH | UINH
    or t0, t0, t1
    csrw mhpmevent6, t0
    csrw mhpmevent7, t1
    li t2, 1000
    csrw minstret, t2       # stands still: not even this is counted
    csrw mcycle, t2
    nop
    li t0, ~(1 << 7)
    csrw mcountinhibit, t0
    nop
    nop
    nop
    li t0, -1               # one instruction
    csrw mcountinhibit, t0
    csrr t0, mhpmcounter7
    csrw mhpmcounter8, t0
    csrr t0, minstret
    csrw mhpmcounter9, t0
    csrr t0, mcycle
    csrw mhpmcounter10, t0
    csrwi mcountinhibit, 0
    .rept BEFORE
    nop
    .endr
    mret
handler:
    j handler
