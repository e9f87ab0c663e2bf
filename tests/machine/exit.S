# Does one thing that a program must not do (WRONG), then exits.
    .include "program.inc"
    begin
    li s0, 0x4000000000     # where the firmware is
    .globl wrong
wrong:
    WRONG
    finish
