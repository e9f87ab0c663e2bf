# A program for random cores (cores.py): what real programs seldom do side by side. Stores that overlap loads in part,
# accesses across lines and pages, deep recursion, indirect calls, unforeseeable branches with stores behind them,
# atomics, fences, division, square roots, code that it changes itself. It goes round ROUNDS times and writes what came
# out.

    .option norvc
    .bss
    .balign 4096
area: .space 262144
    .text
    .globl _start
_start:
    la s0, area
    li s1, 12345
    li s2, 0
    la s3, table
    la s4, area + 4093
    li s11, ROUNDS
    li t0, 0x4037000000000000
    fmv.d.x fs0, t0
    fcvt.d.l fs1, s11
again:
    li t0, 1103515245
    mul s1, s1, t0
    addi s1, s1, 1234
    srli t1, s1, 16
    li t2, 0x3fff0
    and t1, t1, t2
    add t1, t1, s0
    sd s1, 0(t1)
    sw s11, 4(t1)
    ld t3, 0(t1)
    lw t4, 2(t1)
    lh t5, 4(t1)
    add s2, s2, t3
    add s2, s2, t4
    add s2, s2, t5
    sb s2, 15(t1)
    ld t3, 8(t1)
    add s2, s2, t3
    srli t1, s1, 28
    andi t3, t1, 1
    beqz t3, 1f
    sd s2, 24(s0)
    sd s1, 0(s4)
    ld t4, -3(s4)
    add s2, s2, t4
    divu t5, s2, s11
    xor s2, s2, t5
1:  andi t3, t1, 6
    bnez t3, 2f
    fdiv.d fs2, fs0, fs1
    fsqrt.d fs3, fs2
    fmadd.d fs0, fs2, fs3, fs0
    fcvt.l.d t4, fs0, rtz
    add s2, s2, t4
2:  andi t3, t1, 24
    add t3, t3, s3
    ld t3, 0(t3)
    jalr t3
    andi a0, t1, 31
    jal deep
    addi s11, s11, -1
    bnez s11, again
    sd s2, 0(s0)
    fsd fs0, 8(s0)
    csrr t0, fflags
    sd t0, 16(s0)
    li a0, 1
    mv a1, s0
    li a2, 32
    li a7, 64
    ecall
    andi a0, s2, 63
    li a7, 93
    ecall
deep:
    beqz a0, 3f
    addi sp, sp, -16
    sd ra, 8(sp)
    addi a0, a0, -1
    jal deep
    ld ra, 8(sp)
    addi sp, sp, 16
3:  ret
f0: addi s2, s2, 3
    ret
f1: li t4, 8
    amoadd.d t5, t4, (s0)
    add s2, s2, t5
    ret
f2: la t6, constant
    lr.d t4, (t6)           # needs no right to write
    addi t6, s0, 64
4:  lr.w t4, (t6)
    addi t4, t4, 1
    sc.w t5, t4, (t6)
    bnez t5, 4b
    add s2, s2, t4
    ret
f3: fence
    ld t4, 64(s0)
    rem t5, s2, s11
    add s2, s2, t5
    sub s2, s2, t4
    la t6, changing
    srli t4, s1, 53
    slli t4, t4, 20
    lw t5, 0(t6)
    li t0, 0xfffff
    and t5, t5, t0
    or t5, t5, t4
    sw t5, 0(t6)            # another constant
    fence.i
    jr t6
    .section .changing, "awx"
changing:
    addi s2, s2, 0
    ret
    .section .rodata
    .balign 8
constant: .dword 1
    .data
    .balign 8
table: .dword f0, f1, f2, f3
