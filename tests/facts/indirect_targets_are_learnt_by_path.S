#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes branch.predictor=static
#: run
#: expect events.indirect_mispredictions == 7
#: expect fetch(one[3]) - fetch(jump[6]) == 1
#: expect fetch(two[3]) - fetch(jump[7]) == 1
#: run branch.indirect_bits=0
#: expect events.indirect_mispredictions == 9
#
# The targets alternate: one, two, one, two, one, two, one, two, end. A BTB alone is always wrong: 9. The table goes by
# the last four targets: the paths before the jumps are empty, 1, 12, 121, 1212, 2121, 1212, 2121, 1212. The first six
# jumps come by paths that were not seen before, and the BTB, whose answer counts then, is wrong; the seventh and the
# eighth come by known paths. The last one goes where that path never led: 7 are wrong.
    .include "fact.inc"
    .data
    .balign 64
targets: .dword one, two, one, two, one, two, one, two, end
    begin
    la a1, targets
    nops 3
top: ld a5, 0(a1)
    addi a1, a1, 8
    fence.i
jump: jr a5
    ecall                   # wrong paths end here
    .balign 64
one: j top
    .balign 64
two: j top
    .balign 64
end: finish
