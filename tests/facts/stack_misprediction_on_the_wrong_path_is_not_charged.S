#: set fetch.width=4 perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect dispatch(wrong.inner_target) - dispatch(wrong.inner) == 7
#: expect dispatch(right) - dispatch(outer) == 28
#: expect events.mispredictions_spec == 2
#: expect stack.fmt.branch == 28
#: expect stack.fmt2.branch == 28 - 19
#: expect stack.fmt2.fu == 19
#: expect stack.sfmt.branch == 28
#: expect stack.naive.branch == 2 * 5
#: expect stack.naive_nonspec.branch == 5
#
# Both branches are mispredicted. The outer one dispatches at 6, waits for a quotient until 28 and resolves at 29; the
# right path enters at 34: 6 to 33 are 28. The inner one, on its wrong path, dispatches at 7 and resolves at 9, and
# what it redirects fetch to enters at 14: 7 cycles that are part of the 28 and vanish with the inner one's row. Naive
# counts both, at frontend.stages each. fmt2 gives the cycles in which the oldest instruction waits for the divider to
# that: it issues at 8, is the oldest from 9 on, when the one before commits, and is done at 28: 10 to 28 are 19.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
    nop
outer: beq a3, a2, right
inner: beq a2, a2, inner_target
    ebreak
inner_target: nop
    ebreak
right: nop
    finish
