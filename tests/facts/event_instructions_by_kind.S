#: set perfect.l1i=yes perfect.itlb=yes
#: counter committed instructions
#: counter fetched fetched
#: counter dispatched dispatched
#: counter completed completed
#: counter stores stores
#: counter byte stores:byte
#: counter half stores:half
#: counter word stores:word
#: counter double stores:double
#: counter loads loads
#: counter atomics atomics
#: counter lr atomics:lr
#: counter sc atomics:sc
#: counter amo atomics:amo
#: counter fp fp_instructions
#: counter fpadd fp_instructions:fpadd
#: counter fpmul fp_instructions:fpmul
#: counter fpdiv fp_instructions:fpdiv
#: counter fpsqrt fp_instructions:fpsqrt
#: counter integer integer_instructions
#: counter alu integer_instructions:alu
#: counter mul integer_instructions:mul
#: counter div integer_instructions:div
#: counter compressed compressed_instructions
#: counter calls system_calls
#: counter csr csr_accesses
#: counter fences fences
#: counter prefetches prefetch_instructions
#: counter misaligned misaligned_accesses
#: counter misaligned_loads misaligned_accesses:load
#: counter misaligned_stores misaligned_accesses:store
#: counter everything issued
#: counter cycles cycles
#: set perfect.dtlb=yes perfect.l1d=yes
#: expect counter.cycles == commit(exit)
#: expect counter.committed == 58
#: expect counter.fetched == 58
#: expect counter.dispatched == 58
#: expect counter.completed == 58
#: expect counter.stores == 12 + 7
#: expect counter.byte == 1
#: expect counter.half == 2
#: expect counter.word == 3 + 3
#: expect counter.double == 6 + 4
#: expect counter.loads == 3 + 7
#: expect counter.atomics == 7
#: expect counter.lr == 1
#: expect counter.sc == 2
#: expect counter.amo == 4
#: expect counter.fp == 10
#: expect counter.fpadd == 3
#: expect counter.fpmul == 2
#: expect counter.fpdiv == 4
#: expect counter.fpsqrt == 1
#: expect counter.integer == 14 + 2 + 3
#: expect counter.alu == 14
#: expect counter.mul == 2
#: expect counter.div == 3
#: expect counter.compressed == 3
#: expect counter.calls == 2
#: expect counter.csr == 2
#: expect counter.fences == 4
#: expect counter.prefetches == 3
#: expect counter.misaligned == 6
#: expect counter.misaligned_loads == 2
#: expect counter.misaligned_stores == 4
#: expect counter.everything == 58
#
# No branch, so all that is fetched retires, and nothing is sent back, so all issue once. The first cycle is 1 and the
# last that in which the exit commits. By class there are 14 for ALUs, which are the address and a constant before the
# others, a pause, two accesses to CSRs, three compressed ones, and the two system calls with their arguments; 2
# multiplications, 3 divisions, 10 of floating point, 3 loads, 3 prefetches, 12 stores, 7 atomics and 4 fences: 58. A
# pause has the opcode of a fence, but is not counted as one. An atomic is a load and a store, `lr` and `sc` included.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 3
    mul a3, a2, a2
    mulhu a3, a2, a2
    div a3, a2, a2
    rem a3, a2, a2
    remuw a3, a2, a2
    fcvt.d.l f2, a2
    fadd.d f3, f2, f2
    feq.d a3, f2, f2
    fmul.d f3, f2, f2
    fnmadd.d f3, f2, f2, f2
    .rept 4
    fdiv.d f3, f2, f2
    .endr
    fsqrt.d f3, f2
    lbu a3, 1(a1)
    lh a3, 1(a1)            # misaligned
    fld f4, 12(a1)          # misaligned
    sb a2, 65(a1)
    sh a2, 66(a1)
    sh a2, 67(a1)           # misaligned
    sw a2, 68(a1)
    sw a2, 70(a1)           # misaligned
    fsw f2, 73(a1)          # misaligned
    .rept 5
    sd a2, 128(a1)
    .endr
    fsd f2, 132(a1)         # misaligned
    lr.d a3, (a1)
    sc.d a3, a2, (a1)
    sc.d a3, a2, (a1)
    amoswap.d a3, a2, (a1)
    .rept 3
    amoadd.w a3, a2, (a1)
    .endr
    csrr a3, fflags
    fsrm a3, zero
    fence
    fence w, r
    fence.tso
    fence.i
    .word 0x0100000f         # pause
    .rept 3
    ori x0, a1, 1           # prefetch.r 0(a1)
    .endr
    .option rvc
    c.li a3, 1
    c.addi a3, 1
    c.nop
    .option norvc
    li a7, 172              # getpid
    ecall
    li a0, 0
    li a7, 93
exit: ecall
