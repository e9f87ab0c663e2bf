#: set perfect.l1i=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(next) - complete(branch) == 0
#: expect fetch(next) - fetch(branch) == 7
#: expect count(wrong.elsewhere) == 0
#: expect events.itlb_walks == 1
#: expect events.itlb_walks_spec == 2
#
# The wrong path goes to a new page and waits for the walk, 30 cycles; the branch resolves after 7, and the right path's
# page is there.
    .include "fact.inc"
    .text
    .balign 4096
elsewhere: nop
    .balign 4096
    begin
branch: bne x0, x0, elsewhere
next: nop
    finish
