#: set perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect fetch(next) - fetch(branch) == 17
#: run l1i.mshrs=1
#: expect fetch(next) - fetch(branch) == 270
#
# A backward branch is predicted as taken to a line in no cache, which is asked for at f + 1 and arrives at f + 261 (1 +
# 9 + 250). The branch, the eighth that decode takes, dispatches at f + 6 and resolves at f + 8; the right path's line
# is in the second cache: 9 cycles. If the instruction cache can have only one line on its way, its request waits for
# the other's arrival and then takes 1 + 9, of which the 1 is part of the front end: f + 270.
    .include "fact.inc"
    .text
    .balign 64
elsewhere: nop
    begin
    nops 7
branch: bne x0, x0, elsewhere
next: nop
    finish
