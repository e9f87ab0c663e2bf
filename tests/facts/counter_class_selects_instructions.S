#: set perfect.l1i=yes perfect.itlb=yes
#: counter alu instructions:op=alu:ip=@begin-@end
#: counter mul instructions:op=mul
#: counter div instructions:op=div
#: counter branch instructions:op=branch
#: counter load instructions:op=load
#: counter store instructions:op=store
#: counter fpadd instructions:op=fpadd
#: counter fpmul instructions:op=fpmul
#: counter fpdiv instructions:op=fpdiv
#: counter fpsqrt instructions:op=fpsqrt
#: counter several instructions:op=mul|fpmul|load
#: counter loads_of_stores loads:op=store
#: expect counter.alu == 2
#: expect counter.mul == 3
#: expect counter.div == 1
#: expect counter.branch == 2
#: expect counter.load == 3
#: expect counter.store == 2
#: expect counter.fpadd == 4
#: expect counter.fpmul == 3
#: expect counter.fpdiv == 2
#: expect counter.fpsqrt == 1
#: expect counter.several == 3 + 3 + 3
#: expect counter.loads_of_stores == 1
#
# Between the labels are as many of each class as is expected. An atomic is of class store, and a load.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 3
    nops 2
begin:
    add a3, a2, a2
    xori a3, a2, 5
    mul a3, a2, a2
    mulw a3, a2, a2
    mulh a3, a2, a2
    rem a3, a2, a2
    beqz a2, end
    bnez a2, 1f
1:  ld a3, 0(a1)
    lbu a3, 8(a1)
    fld f1, 16(a1)
    fsd f1, 24(a1)
    amoadd.d a3, a2, (a1)
    fcvt.d.l f2, a2
    fadd.d f3, f2, f2
    feq.d a3, f2, f2
    fmv.d f4, f2
    fmul.d f3, f2, f2
    fmadd.d f3, f2, f2, f2
    fmul.s f3, f2, f2
    fdiv.d f3, f2, f2
    fdiv.s f3, f2, f2
    fsqrt.d f3, f2
end:
    finish
