#: counter all stall_breakdown
#: counter icache stall_breakdown:icache
#: counter integer stall_breakdown:integer
#: counter other stall_breakdown:other
#: counter completes completion_cycles
#: expect cycles == 851
#: expect counter.icache == 30 + 260 + 2 * 4 + 2 * 252 + 3 * 4 + 2 * 2 + 1
#: expect counter.integer == 6 * 2 + 1
#: expect counter.other == 1 + 5
#: expect counter.completes == 13
#: expect counter.all == 851 - 13
#
# The program of event_cycles_of_fetch_misses. The window is empty for a translation and for misses of both caches, but
# in cycle 1, when nothing had been asked for, and in the five cycles 841 to 845 behind the fetch of the exit, which
# drains the window. The oldest instructions of six lines wait for their turn and for an ALU, and the exit for an ALU.
    .include "fact.inc"
    .text
    .balign 64
    begin
    nops 45
    li a0, 0
    li a7, 93
exit: ecall
