#: set fetch.width=4 l1i.line=64 perfect.l2i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect fetch(second) == 23
#: expect issue(load) == 18
#: expect complete(load) == 18 + 261
#: expect stack.fmt.l1i == 9 + 9
#: expect stack.fmt.l2d == 0
#: expect stack.fmt2.l1i == 9 + 9 - 1.5
#: expect stack.fmt2.l2d == 1.5
#: run perfect.l2d=yes
#: expect fetch(second) == 23
#: expect complete(load) == 18 + 11
#: expect stack.fmt2.l1i == 9 + 9
#: expect stack.fmt2.l1d == 0
#: run perfect.l2d=yes perfect.dtlb=no tlb.walk_latency=2
#: expect fetch(second) == 23
#: expect issue(load) == 18
#: expect stack.fmt2.l1i == 9 + 9 - 1.5
#: expect stack.fmt2.dtlb == 1.5
#: expect stack.fmt2.l1d == 0
#
# The first line misses in cycles 1 to 9 and the second in 14 to 22. The load is the oldest from 19 on, when the
# address's second half commits, and waits for memory: in 20 to 22 there is nothing to fetch, and nothing to do for what
# is in the window. Either miss would do to lose them; each is charged half of the three. Data of the second cache is
# there sooner than the window runs out of work where instructions come: the instruction miss alone is to blame. But if the
# load had to walk first, it is a miss of the D-TLB all the time.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    nops 13
second: nop
    nops 2
    bnez x0, end
end: finish
