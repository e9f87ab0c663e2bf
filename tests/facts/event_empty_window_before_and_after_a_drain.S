#: set perfect.l1i=yes perfect.itlb=yes
#: counter start empty_window:start
#: counter serial empty_window:serial
#: counter all empty_window
#: expect dispatch(after) - commit(call) == 6
#: expect dispatch(_start) == 6
#: expect counter.start == 6
#: expect counter.serial == dispatch(after) - commit(call)
#: expect counter.all == 6 + 6
#
# The window is empty up to cycle 6, in which the first instructions enter, and nothing has held up the front end by
# then. The system call retires in c, what follows is fetched in c + 1, and the window is empty from then to c + 6.
    .include "fact.inc"
    begin
    nops 40
    li a7, 172              # getpid
call: ecall
after: nop
    nops 39
    finish
