# ROUNDS rounds of a loop of four instructions, one of which does WORK; then NUMBER, hpmcounter3 to 10, instret, cycle and
# 0 are reported. DEATH is executed before that.
    .include "program.inc"

    begin
    la s11, reported
    li s1, ROUNDS
    li s2, 3
    fcvt.d.l fa0, s1
    fcvt.d.l fa1, s2
loop:
    WORK
    nop
    addi s1, s1, -1
    bnez s1, loop
    DEATH
    li t0, NUMBER
    sd t0, 0(s11)
    note 1, hpmcounter3
    note 2, hpmcounter4
    note 3, hpmcounter5
    note 4, hpmcounter6
    note 5, hpmcounter7
    note 6, hpmcounter8
    note 7, hpmcounter9
    note 8, hpmcounter10
    note 9, instret
    note 10, cycle
    tell 12
    finish
