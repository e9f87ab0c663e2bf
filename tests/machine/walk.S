# Reads each line of BYTES bytes, ROUNDS times, without a system call but the last. With WAIT `add s0, s0, t0` a load has to
# wait for the one before it.
    .include "program.inc"

    .bss
    .balign 4096
place:
    .space BYTES

    begin
    li s1, ROUNDS
1:  la s0, place
    li t1, BYTES / 64
2:  ld t0, 0(s0)            # 0
    WAIT
    addi s0, s0, 64
    addi t1, t1, -1
    bnez t1, 2b
    addi s1, s1, -1
    bnez s1, 1b
    finish
