#: set fetch.width=4 branch.predictor=static branch.btb_entries=0 l1i.line=64
#: run
#: expect events.l2d_misses_spec == 3
#: expect events.l2d_misses == 2
#: expect stack.naive.l1i == 9
#: expect stack.naive.l2i == 250
#: expect stack.naive.itlb == 30
#: expect stack.naive.l1d == 3 * 9
#: expect stack.naive.l2d == 3 * 250
#: expect stack.naive.dtlb == 3 * 30
#: expect stack.naive.branch == 5
#: expect stack.naive.base == cycles - 1161
#: expect stack.naive.base < 0
#: expect stack.naive_nonspec.l1d == 2 * 9
#: expect stack.naive_nonspec.l2d == 2 * 250
#: expect stack.naive_nonspec.dtlb == 2 * 30
#: expect stack.naive_nonspec.branch == 5
#: expect stack.naive_nonspec.base == cycles - 872
#: run l3.size=4M frontend.stages=9 l2.latency=12 memory.latency=100 tlb.walk_latency=20
#: expect stack.naive.l1i == 12
#: expect stack.naive.l2i == 130
#: expect stack.naive.itlb == 20
#: expect stack.naive.l1d == 3 * 12
#: expect stack.naive.l2d == 3 * 130
#: expect stack.naive.dtlb == 3 * 20
#: expect stack.naive.branch == 9
#
# One line of code in one page, all misses; three loads of three pages, all misses, and the last of them on the wrong
# path of the branch that waits for the first. Penalties are l2.latency for what the first cache lacks, memory.latency
# (and l3.latency, 30) for what the second one lacks as well, tlb.walk_latency, and frontend.stages. Since all three
# loads overlap, more cycles are charged than there are.
    .include "fact.inc"
    begin
    la a1, area
    li a3, 4096
    add a4, a1, a3
    add a5, a4, a3
    ld a2, 0(a1)            # 0
    ld a6, 0(a4)
    beqz a2, target
    ld a6, 0(a5)
    ebreak
target: nop
    finish
