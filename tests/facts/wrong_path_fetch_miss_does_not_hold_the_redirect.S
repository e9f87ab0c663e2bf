#: set perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(next) - complete(branch) == 0
#: expect fetch(branch) - complete(branch) == -7
#: expect count(wrong.elsewhere) == 0
#
# A backward branch is predicted as taken. Its target's line is in no cache, so the wrong path waits for memory (259
# cycles), and the branch resolves after 5 + 1 + 1: the right path, whose line is there, goes on in that cycle.
    .include "fact.inc"
    .text
    .balign 64
elsewhere: nop
    begin
    nops 3
branch: bne x0, x0, elsewhere
next: nop
    finish
