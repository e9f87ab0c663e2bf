#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes branch.predictor=static branch.btb_entries=0
#: set div.latency=200 units.muldiv=3 rob.size=45
#: counter fetched fetched
#: counter dispatched dispatched
#: counter issued issued
#: counter completed completed
#: counter committed instructions
#: counter squashed squashed
#: counter squashed_alu squashed:alu
#: counter squashed_mul squashed:mul
#: counter squashed_div squashed:div
#: counter squashed_branch squashed:branch
#: counter squashed_load squashed:load
#: counter squashed_store squashed:store
#: counter squashed_fpadd squashed:fpadd
#: counter squashed_fpmul squashed:fpmul
#: counter squashed_fpdiv squashed:fpdiv
#: counter squashed_fpsqrt squashed:fpsqrt
#: counter loads loads:spec
#: counter byte loads:byte:spec
#: counter half loads:half:spec
#: counter word loads:word:spec
#: counter double loads:double:spec
#: counter stores stores:spec
#: counter stores_byte stores:byte:spec
#: counter stores_half stores:half:spec
#: counter stores_word stores:word:spec
#: counter stores_double stores:double:spec
#: counter retired_loads loads
#: counter retired_stores stores
#: counter cycles wrong_path_cycles
#: counter wrong_dispatched wrong_path_dispatched
#: counter wrong_issued wrong_path_issued
#: counter dispatched_here wrong_path_dispatched:ip=@loads-@stores
#: counter issued_here wrong_path_issued:ip=@loads-@stores
#: counter sources load_sources:spec
#: counter from_l1 load_sources:l1:spec
#: expect count(wrong.right) == 0
#: expect counter.fetched == 11 + 46
#: expect counter.dispatched == 11 + 42
#: expect counter.issued == 11 + 39
#: expect counter.completed == 11 + 39
#: expect counter.committed == 11
#: expect counter.squashed == 46
#: expect counter.squashed_alu == 2 + 3 + 6
#: expect counter.squashed_mul == 3
#: expect counter.squashed_div == 1
#: expect counter.squashed_branch == 2
#: expect counter.squashed_load == 10 + 1
#: expect counter.squashed_store == 10
#: expect counter.squashed_fpadd == 2
#: expect counter.squashed_fpmul == 3
#: expect counter.squashed_fpdiv == 1
#: expect counter.squashed_fpsqrt == 2
#: expect counter.loads == 10
#: expect counter.byte == 1
#: expect counter.half == 2
#: expect counter.word == 3
#: expect counter.double == 4
#: expect counter.stores == 10
#: expect counter.stores_byte == 4
#: expect counter.stores_half == 3
#: expect counter.stores_word == 2
#: expect counter.stores_double == 1
#: expect counter.retired_loads == 0
#: expect counter.retired_stores == 0
#: expect counter.cycles == complete(branch) - fetch(branch)
#: expect counter.wrong_dispatched == 42
#: expect counter.wrong_issued == 39
#: expect counter.dispatched_here == 10
#: expect counter.issued_here == 10
#: expect counter.sources == 10
#: expect counter.from_l1 == 10
#
# The branch waits for two divisions, one after the other. In the meantime the wrong path comes to its end, and all
# complete that can: 37 instructions of all classes, among which is a division that takes half of that time. Three more
# need a quotient that comes after that, and never issue; six do nothing. When the first has retired the ROB has room
# for the others, the branch and 42 of these, so the last four are fetched and no more. On the right path there are
# eleven, all of which go through all stages. Fetch is on the wrong path from the cycle of the branch's fetch on, up to
# the one before it resolves. One of the class of loads is a prefetch, and no load.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    fcvt.d.l f2, a2
    div a3, a2, a2
    div a3, a3, a2
    div a5, a3, a2
branch: beq a3, a2, right
    xor a4, a2, a2
    or a4, a2, a2
    .rept 3
    mul a4, a2, a2
    .endr
    div a4, a2, a2
    bnez x0, right
    bnez x0, right
    ori x0, a1, 1           # prefetch.r 0(a1)
loads: lbu a4, 0(a1)
    .rept 2
    lhu a4, 0(a1)
    .endr
    .rept 3
    lw a4, 0(a1)
    .endr
    .rept 4
    ld a4, 0(a1)
    .endr
stores:
    .rept 4
    sb a2, 64(a1)
    .endr
    .rept 3
    sh a2, 64(a1)
    .endr
    .rept 2
    sw a2, 64(a1)
    .endr
    sd a2, 64(a1)
    fadd.d f3, f2, f2
    fmv.d f3, f2
    .rept 3
    fmul.d f3, f2, f2
    .endr
    fdiv.d f3, f2, f2
    fsqrt.d f3, f2
    fsqrt.d f3, f2
    .rept 3
    add a4, a5, a5
    .endr
    nops 6
    ecall                   # the wrong path ends here
right:
    finish
