#: set perfect.l1i=yes perfect.itlb=yes perfect.branch=yes fetch.lines=1 fetch.width=16
#: counter stops fetch_stops:group
#: counter stalls fetch_stalls:group
#: expect fetch(target) == 3
#: expect fetch(exit) == 4
#: expect counter.stops == 2 + 1
#: expect counter.stalls == 1
#
# One line is read in a cycle. The jump's is read in cycle 1, and its target lies across two lines: the first is read in
# 2, which brings nothing yet, the second in 3. That has seven more instructions, and half of an eighth, which waits for
# the third line in 4.
    .include "fact.inc"
    begin
    j target
    .balign 32
    .option rvc
    .rept 15
    c.nop
    .endr
    .option norvc
target: nop
    nops 7
exit: finish
