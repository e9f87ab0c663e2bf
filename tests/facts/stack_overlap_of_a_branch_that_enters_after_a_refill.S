#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: set rob.size=16
#: expect dispatch(second) == 14
#: expect complete(load) == 270
#: expect stack.fmt.l2d == 255
#: expect overlap == 255
#
# The first branch resolves at 9, and the second one is the first instruction of the refill: it enters the ROB at 14, so
# that there is a misprediction to pay for in all cycles from its dispatch on. Its wrong path fills the ROB of 16 at 16,
# behind the load from memory that it waits for: 16 to 270 are both its penalty and that of the miss.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)          # 0
    nops 3
first: beqz x0, second
    ebreak
    .balign 64
second: beqz a2, target
    nops 20
    ebreak
target: nop
    finish
