#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0 decode.width=1 fetch.buffer=64
#: expect fetch(right) == complete(branch)
#: expect fetch(wrong.last) < fetch(right)
#: expect dispatch(right) - fetch(right) == 5
#
# One instruction is decoded per cycle and eight are fetched, so the wrong path piles up before the decoder. It goes with
# the branch: the right path comes through the front end in its five cycles.
    .include "fact.inc"
    begin
    li a2, 1
branch: beq a2, a2, right   # forward: predicted as not taken
    nops 29
last: nop
    nops 32
right: nop
    finish
