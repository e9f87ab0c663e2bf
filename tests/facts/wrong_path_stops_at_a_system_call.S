#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect count(wrong.call) == 0
#: expect cycles_by.fetch.lost == 28
#: expect fetch(right) - fetch(branch) == 28
#: expect events.system_calls == 1
#
# As in unmapped memory, but fetch meets the call in the cycle of the branch, f, and is stopped until f + 27.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
branch: beq a3, a2, right
call: ecall
    nops 4
right: nop
    finish
