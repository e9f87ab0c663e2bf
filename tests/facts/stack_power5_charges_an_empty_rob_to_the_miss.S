#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes
#: expect dispatch(first) == 15
#: expect commit(last) == 21
#: expect dispatch(second) == 28
#: expect stack.power5.l1i == 14 + 6
#: expect stack.power5.branch == 0
#
# The first line misses in cycles 1 to 9: until the first instruction enters, at 15, the ROB is empty for 14 cycles.
# The second line misses in 14 to 22. The last instruction before it commits at 21 and the first behind it enters at
# 28: 22 to 27 are 6, and the rest of the miss is hidden in what was still in the ROB. Cycles 15 and 28, in which the
# ROB is found empty and something enters, count for what enters next, which is no miss.
    .include "fact.inc"
    begin
first: nop
    nops 14
last: nop
second: nop
    nops 5
    finish
