#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run fetch.lines=2
#: expect fetch(last) == 13
#: expect fetch(second) == 22
#: expect stack.fmt.l1i == 9 + 8
#: expect stack.sfmt.l1i == 9 + 8
#: expect stack.fmt2.l1i == 9 + 8 + 0.5
#: run fetch.lines=1
#: expect fetch(second) == 23
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.fmt2.l1i == 9 + 9
#: run fetch.width=8 fetch.lines=2 l2.latency=2
#: expect fetch(last) == 4
#: expect fetch(second) == 6
#: expect dispatch(second) - dispatch(last) == 0
#: expect stack.fmt.l1i == 2
#: expect stack.fmt2.l1i == 2
#: run fetch.lines=2 l2.latency=1
#: expect fetch(last) == 5
#: expect fetch(second) == 6
#: expect stack.fmt.l1i == 1
#: expect stack.fmt2.l1i == 1 + 0.5
#
# The first line misses in cycles 1 to 9. It has 14 instructions from the first one on, and so two in its last group, at
# 13. With two lines in a cycle the miss of the second is known at 13, too: two decode slots of that group
# stay empty, half a cycle's, and in 14 to 21 all do. With one line in a cycle the group would have ended in any case, and
# 14 to 22 are lost. In the third run misses take 2 cycles and fetch brings 8, so that the buffer has instructions until the
# second line is there at 6, which fills up the group of the last ones. In the fourth they take 1 cycle, and the second line
# is there in the cycle after the last group: it costs two decode slots and nothing else.
    .include "fact.inc"
    .text
    .balign 64
    nops 2
    .globl _start
_start:
    nops 4
    bnez x0, end
    nops 8
last: nop
second: nop
    nops 2
    bnez x0, end
end: finish
