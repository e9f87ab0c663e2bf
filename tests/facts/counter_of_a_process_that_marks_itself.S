#: set perfect.l1i=yes perfect.itlb=yes
#: counter all loads
#: counter marked loads:marked
#: counter marked_instructions instructions:marked
#: counter marked_calls system_calls:marked
#: counter divisions head_stalls:unit:edge
#: counter marked_divisions head_stalls:unit:edge:marked
#: counter here loads:marked:ip=@child-@end
#: expect exit_status == 0
#: expect counter.all == 2 + 3 + 1 + 5 + 4
#: expect counter.marked == 2 + 1 + 4
#: expect counter.here == 4
#: expect instructions - counter.marked_instructions == (3 + 1 + 3) + (1 + 5 + 3)
#: expect counter.marked_calls == 7 - 2
#: expect counter.divisions == 3
#: expect counter.marked_divisions == 2
#
# prctl (system call 167) with PR_TASK_PERF_EVENTS_DISABLE (31) clears the mark of a process, with
# PR_TASK_PERF_EVENTS_ENABLE (32) sets it. The mark changes behind the system call: the call that clears it still counts,
# the one that sets it does not.
#
# The process starts marked and loads twice. Without the mark it loads three times, divides and makes the call that marks
# it again, 3 + 1 + 3 instructions. It forks, loads once, divides, waits for its child (system call 260) and exits. The
# child has no mark: its branch, five loads and the three instructions of the call that marks it do not count; its four
# loads, its division and its exit do. The calls are the parent's 31, 32, 220, 260 and 93, the child's 32 and 93: those
# with 32 do not count.
    .include "fact.inc"
    begin
    la s1, area
    li s2, 1
    ld a5, 0(s1)
    ld a5, 8(s1)
    li a0, 31
    li a7, 167
    ecall
    .rept 3
    ld a5, 16(s1)
    .endr
    div a6, s2, s2
    li a0, 32
    li a7, 167
    ecall
    li a0, 17               # SIGCHLD: a fork
    li a1, 0
    li a7, 220
    ecall
    beqz a0, child
    ld a5, 8(s1)
    div a6, s2, s2
    li a0, -1
    li a1, 0
    li a2, 0
    li a3, 0
    li a7, 260
    ecall
    finish
child:
    .rept 5
    ld a5, 16(s1)
    .endr
    li a0, 32
    li a7, 167
    ecall
    .rept 4
    ld a5, 16(s1)
    .endr
    div a6, s2, s2
    finish
end:
