#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes fetch.width=4
#: counter one instructions:thresh=0
#: counter two instructions:thresh=1
#: counter three instructions:thresh=2
#: counter four instructions:thresh=3
#: counter five instructions:thresh=4
#: counter below instructions:thresh=2:inv
#: counter none instructions:inv:thresh=0
#: counter loads loads:thresh=1
#: counter here loads:thresh=1:ip=@second-@n4
#: counter rob rob_occupancy:thresh=11
#: counter some rob_occupancy:thresh=0
#: counter empty rob_occupancy:inv:thresh=0
#: expect commit(n4) - commit(slow) == 1
#: expect commit(last) - commit(slow) == 2
#: expect counter.one == 6
#: expect counter.two == 4
#: expect counter.three == 3
#: expect counter.four == 3
#: expect counter.five == 0
#: expect counter.below == cycles - 3
#: expect counter.none == cycles - 6
#: expect counter.loads == 1
#: expect counter.here == 0
#: expect counter.rob == commit(slow) - dispatch(last)
#: expect counter.some == commit(exit) - dispatch(_start)
#: expect counter.empty == cycles - counter.some
#
# Instructions commit in groups of 1 (auipc), 2 (addi and li), then, when the division is complete, 4, 4 and 4, and 1
# (the exit). Two loads commit together; with one of them left out by its address there is no such cycle. `last` is the
# twelfth instruction: when it is dispatched the ROB has twelve entries, as nothing commits up to then. Four more follow
# before three commit; the division leaves with three others, which makes nine.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
slow: div a3, a2, a2
first: ld a4, 0(a1)
second: ld a4, 0(a1)
    nop
n4: nop
    nops 3
last: nop
    nop
    li a0, 0
    li a7, 93
exit: ecall
