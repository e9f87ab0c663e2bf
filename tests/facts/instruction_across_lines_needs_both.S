#: set fetch.lines=1
#: set perfect.itlb=yes fetch.width=16 fetch.branches=1 branch.predictor=static branch.btb_entries=0
#: run perfect.l1i=yes
#: expect fetch(split) - fetch(a) == 1
#: run perfect.l1i=yes fetch.lines=2
#: expect fetch(split) - fetch(a) == 0
#: run
#: expect fetch(split) - fetch(a) == 10
#
# 13 compressed instructions from byte 4 of a line on, then one of 4 bytes at byte 30: it needs the next line as well,
# which a cycle gets only with fetch.lines=2. The first line was fetched before, the second one is in the second cache
# only (it came with the first from memory): a cycle, and 9 more. The way to a leads through two other lines, so that
# its line is no longer at hand, and the jump there ends its cycle, since that may predict only one.
    .include "fact.inc"
    begin
    j away
    .option rvc
a:  c.nop
    .rept 12
    c.nop
    .endr
    .option norvc
split: addi a1, x0, 1
    finish
    .balign 64
away: nops 8
    j a
