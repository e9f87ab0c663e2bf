#: set perfect.l1i=yes perfect.itlb=yes perfect.branch=yes
#: expect exit_status == fetch(second) - fetch(first)
#
# The difference of two reads of the cycle counter is that of the cycles in which they are fetched.
    .include "fact.inc"
    begin
first: rdcycle s1
    li a2, 1
    div a3, a2, a2
    div a3, a3, a2
second: rdcycle s2
    sub a0, s2, s1
    li a7, 93
    ecall
    finish
