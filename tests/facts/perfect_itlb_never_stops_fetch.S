#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect fetch(b) - fetch(a) == 1
#: expect events.itlb_access_misses_spec == 0
#: expect cycles_by.fetch.itlb == 0
#
# A new page is like any new line.
    .include "fact.inc"
    begin
a:  j b
    .balign 4096
b:  nop
    finish
