#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: set dispatch.bundle=5 dispatch.width=5 decode.width=5 commit.width=5 rob.size=100
#: run
#: counter dcache stall_breakdown:dcache
#: counter integer stall_breakdown:integer
#: expect commit(use) - commit(load) == 0
#: expect commit(load) - commit(before) == 262
#: expect counter.dcache == 0
#: expect counter.integer == 3 + 261
#: run dispatch.bundle=0
#: counter dcache stall_breakdown:dcache
#: expect commit(load) - commit(before) == 261
#: expect counter.dcache == 260
#
# A load and an addition to what it loads are in one bundle, which retires when the addition has finished: the whole stall
# is charged to that. Alone, the load is charged with it.
# The first bundle enters in d, and its chain of two takes until d + 3: three cycles of waiting, then it retires in d + 4.
# The load issues in d + 3 and has its data 261 cycles later, the addition its result in d + 265, and both retire in
# d + 266, after 261 more cycles of waiting. Then bundles retire one a cycle, since the exit, which issues as the oldest, is
# that when all before it are done. Without bundles the load retires in d + 265.
    .include "fact.inc"
    begin
    la a1, area
    nops 2
before: nop
load: ld a2, 0(a1)
use: addi a3, a2, 1
    nops 3
    li a0, 0
    li a7, 93
exit: ecall
