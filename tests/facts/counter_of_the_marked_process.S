#: set perfect.l1i=yes perfect.itlb=yes
#: counter all loads
#: counter parent loads:marked
#: counter here loads:ip=@child-@end
#: counter not_here loads:marked:ip=@child-@end
#: counter instructions instructions
#: counter marked_instructions instructions:marked
#: counter calls system_calls
#: counter marked_calls system_calls:marked
#: counter divisions head_stalls:unit:edge
#: counter marked_divisions head_stalls:unit:edge:marked
#: expect exit_status == 0
#: expect counter.all == 2 + 5
#: expect counter.parent == 2
#: expect counter.here == 5
#: expect counter.not_here == 0
#: expect counter.instructions == instructions
#: expect counter.instructions - counter.marked_instructions == 1 + 5 + 1 + 3
#: expect counter.calls == 4
#: expect counter.marked_calls == 3
#: expect counter.divisions == 2
#: expect counter.marked_divisions == 1
#
# The process forks. Its child goes on behind the system call with a branch, five loads, a division and its exit, and is
# not marked. The parent loads twice, divides, waits for the child (system call 260) and exits.
    .include "fact.inc"
    begin
    la s1, area
    li s2, 1
    ld a5, 0(s1)
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
    div a6, s2, s2
    finish
end:
