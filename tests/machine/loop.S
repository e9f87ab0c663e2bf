# ROUNDS rounds of a loop of six instructions, one of which loads; then hpmcounter3 to 10, and a sum that a lost or
# doubled instruction would change. No other instruction loads.
    .include "program.inc"

    .data
    .balign 64
table:
    .dword 1, 2, 3, 4, 5, 6, 7, 8

    begin
    la s11, reported
    la s0, table
    li s1, ROUNDS
    li s2, 0
    .globl loop
loop:
    andi t0, s1, 56
    add t0, t0, s0
    ld t0, 0(t0)
    add s2, s2, t0
    addi s1, s1, -1
    bnez s1, loop
    sd s2, 64(s11)
    note 0, hpmcounter3
    note 1, hpmcounter4
    note 2, hpmcounter5
    note 3, hpmcounter6
    note 4, hpmcounter7
    note 5, hpmcounter8
    note 6, hpmcounter9
    note 7, hpmcounter10
    tell 9
    finish
