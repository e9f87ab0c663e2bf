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
#
# The first line misses in cycles 1 to 9. It has 14 instructions from the first one on, and so two in its last group, at
# 13. With two lines in a cycle the miss of the second is known at 13, too: the places of two instructions in that group
# stay empty, half a cycle's, and in 14 to 21 all do. With one line in a cycle the group would have ended in any case, and
# 14 to 22 are lost.
    .include "fact.inc"
    .text
    .balign 64
    nops 2
    .globl _start
_start:
    nops 13
last: nop
second: nop
    nops 2
    bnez x0, end
end: finish
