#: set fetch.lines=1
#: set perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect fetch(mid[1]) - fetch(top[1]) == 1
#: expect fetch(low[1]) - fetch(mid[1]) == 1
#: expect fetch(top[2]) - fetch(low[1]) == 1
#: expect events.l1i_access_misses_spec == 4
#: run l1i.latency=4
#: expect fetch(mid[1]) - fetch(top[1]) == 1
#: expect fetch(low[1]) - fetch(mid[1]) == 1
#: expect fetch(top[2]) - fetch(low[1]) == 1
#
# The second time round all lines hit: one line per cycle. The latency of a hit is part of the front end, so a slower
# cache that is pipelined stops nothing. The loop has three lines, so that none is still at hand; a backward branch is
# predicted as taken. With the line of the first instruction there are four lines to miss.
    .include "fact.inc"
    begin
    li a1, 3
    nops 7
top: addi a1, a1, -1
    nops 7
mid: nop
    nops 7
low: nop
    bnez a1, top
    finish
