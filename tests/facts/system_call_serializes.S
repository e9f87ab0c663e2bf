#: set perfect.l1i=yes perfect.itlb=yes
#: expect issue(call) - commit(slow) == 0
#: expect commit(call) - issue(call) == 2
#: expect fetch(next) - commit(call) == 1
#: expect events.system_calls == 2
#
# The call issues at the head, takes a cycle and commits; what follows is fetched in the cycle after that, and nothing
# was fetched before.
    .include "fact.inc"
    begin
    li a2, 1
    li a7, 172              # getpid
slow: div a3, a2, a2
call: ecall
next: nop
    finish
