#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static
#: run
#: expect fetch(there[0]) - fetch(jump[0]) == 3
#: expect fetch(there[1]) - fetch(jump[1]) == 1
#: expect events.misfetches == 2
#: run branch.misfetch_cycles=5
#: expect fetch(there[0]) - fetch(jump[0]) == 6
#: expect fetch(there[1]) - fetch(jump[1]) == 1
#: run branch.btb_entries=0
#: expect fetch(there[0]) - fetch(jump[0]) == 1
#: expect events.misfetches == 0
#
# A jump to another line costs a cycle of fetch. The first time the BTB lacks it: branch.misfetch_cycles more. It learns
# when the jump commits, which fence.i waits for; that ends its line, so that the jump begins one. The second misfetch
# is that of the backward branch. Without a BTB targets are known at fetch.
    .include "fact.inc"
    begin
    li a1, 2
    nops 6
top: fence.i
jump: j there
    .balign 64
there: addi a1, a1, -1
    bnez a1, top
    finish
