#: set fetch.width=4 l1i.line=64 branch.predictor=static branch.btb_entries=0
#: run perfect.itlb=yes
#: expect fetch(branch) == 260
#: expect stack.fmt.l2i == 259
#: expect stack.sfmt.l2i == 259
#: expect stack.fmt.l1i == 0
#: run perfect.l1i=yes
#: expect fetch(branch) == 31
#: expect stack.fmt.itlb == 30
#: expect stack.sfmt.itlb == 30
#: run perfect.l2i=yes
#: expect fetch(branch) == 40
#: expect stack.fmt.itlb == 30
#: expect stack.fmt.l1i == 9
#: expect stack.sfmt.itlb == 30
#: expect stack.sfmt.l1i == 9
#: expect stack.power5.l1i == 44
#: expect stack.power5.itlb == 0
#
# The first instruction misses; it takes 9 + 250 cycles to come from memory, a walk takes 30, and the second cache 9
# more. fmt and sfmt charge each cycle to what fetch waited for in it. power5 knows only what the instruction lacked,
# and charges all 44 cycles before it enters to one of these.
    .include "fact.inc"
    begin
branch: bnez x0, end
    nops 4
end: finish
