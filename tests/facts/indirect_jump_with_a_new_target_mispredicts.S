#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes branch.predictor=static branch.indirect_bits=0
#: expect fetch(one[0]) - complete(jump[0]) == 0
#: expect fetch(one[1]) - fetch(jump[1]) == 1
#: expect fetch(two) - complete(jump[2]) == 0
#: expect events.indirect_mispredictions == 2
#
# The BTB knows nothing of the jump at first, then its last target: it is right when that comes again, and wrong when
# another one does. fence.i lets each jump commit, and so be learnt, before the next is fetched; it ends its line, so
# that the jump begins one.
    .include "fact.inc"
    .data
    .balign 64
targets: .dword one, one, two
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
two: finish
