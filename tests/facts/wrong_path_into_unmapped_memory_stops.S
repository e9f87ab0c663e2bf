#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect cycles_by.fetch.lost == 27
#: expect fetch(right) - fetch(branch) == 28
#: expect exit_status == 0
#
# All in the first line, fetched at f. li issues at f + 6, div at f + 7, the branch at f + 27; it resolves at f + 28.
# The jump is the second branch of cycle f; from f + 1 to f + 27 fetch stands where no code is.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
branch: beq a3, a2, right
    j . + 0x80000
    nops 4
right: nop
    finish
