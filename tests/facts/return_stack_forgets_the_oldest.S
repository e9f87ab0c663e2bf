#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0 branch.indirect_bits=0
#: run branch.ras_entries=2
#: expect events.return_mispredictions == 1
#: expect fetch(after) - complete(return1) == 0
#: run branch.ras_entries=3
#: expect events.return_mispredictions == 0
#: run branch.ras_entries=0
#: expect events.return_mispredictions == 3
#
# Three calls deep: with two entries the inner two returns are predicted, the outermost address is overwritten.
    .include "fact.inc"
    begin
    jal ra, first
after: finish
    .balign 64
first: mv s1, ra
    jal ra, second
    mv ra, s1
return1: ret
    ecall                   # wrong paths end here
    .balign 64
second: mv s2, ra
    jal ra, third
    mv ra, s2
    ret
    ecall
    .balign 64
third: ret
    ecall
