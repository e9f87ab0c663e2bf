#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect commit(branch) == 10
#: expect dispatch(target) == 14
#: expect stack.power5.branch == 3
#: expect stack.fmt.branch == 7
#
# The branch dispatches at 7, resolves at 9 and commits at 10; the target enters at 14. The ROB is empty in 11 to 13,
# of the penalty of 7. The empty ROB of the beginning is base.
    .include "fact.inc"
    begin
    nops 7
branch: beqz x0, target
    ebreak
target: nop
    nops 5
    finish
