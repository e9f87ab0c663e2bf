#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: counter all issued
#: counter alu issued:alu
#: counter mul issued:mul
#: counter div issued:div
#: counter branch issued:branch
#: counter load issued:load
#: counter store issued:store
#: counter fpadd issued:fpadd
#: counter fpmul issued:fpmul
#: counter fpdiv issued:fpdiv
#: counter fpsqrt issued:fpsqrt
#: counter several issued:mul|load
#: counter here issued:load:ip=@loads-@end
#: expect counter.all == 26
#: expect counter.alu == 6
#: expect counter.mul == 3
#: expect counter.div == 2
#: expect counter.branch == 1
#: expect counter.load == 4
#: expect counter.store == 2
#: expect counter.fpadd == 3
#: expect counter.fpmul == 2
#: expect counter.fpdiv == 1
#: expect counter.fpsqrt == 2
#: expect counter.several == 3 + 4
#: expect counter.here == 4
#
# Nothing is sent back, so each instruction issues once. ALUs have the address, the constant and the exit.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 3
    .rept 3
    mul a3, a2, a2
    .endr
    div a3, a2, a2
    rem a3, a2, a2
    bnez x0, end
loads:
    .rept 4
    ld a3, 0(a1)
    .endr
    sd a2, 64(a1)
    sw a2, 72(a1)
    fcvt.d.l f2, a2
    fadd.d f3, f2, f2
    fadd.d f3, f2, f2
    fmul.d f3, f2, f2
    fmul.d f3, f2, f2
    fdiv.d f3, f2, f2
    fsqrt.d f3, f2
    fsqrt.d f3, f2
end:
    finish
