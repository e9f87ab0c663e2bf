# Opens these counters to the program, and nothing else.
    .include "firmware.inc"
    start
    li t0, OPENED
    csrw mcounteren, t0
    to_program
handler:
    j handler
