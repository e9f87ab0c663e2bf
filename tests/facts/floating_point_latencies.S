#: set perfect.l1i=yes perfect.itlb=yes
#: expect issue(add) - issue(convert) == 2
#: expect issue(multiply) - issue(add) == 2
#: expect issue(fused) - issue(multiply) == 4
#: expect issue(divide) - issue(fused) == 4
#: expect issue(root) - issue(divide) == 12
#: expect issue(move) - issue(root) == 24
#: expect complete(move) - issue(move) == 2
#
# A chain in which each instruction waits for the one before: conversions, moves and additions take fpadd.latency (2),
# multiplications, also fused ones, fpmul.latency (4), then fpdiv.latency (12) and fpsqrt.latency (24).
    .include "fact.inc"
    begin
    li a1, 4
convert: fcvt.d.l fa0, a1
add: fadd.d fa1, fa0, fa0
multiply: fmul.d fa2, fa1, fa0
fused: fmadd.d fa3, fa2, fa0, fa1
divide: fdiv.d fa4, fa3, fa0
root: fsqrt.d fa5, fa4
move: fmv.x.d a2, fa5
    finish
