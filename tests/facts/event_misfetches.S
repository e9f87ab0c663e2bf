#: set perfect.l1i=yes perfect.itlb=yes fetch.width=4 branch.misfetch_cycles=20
#: counter misfetches misfetches
#: counter misfetched misfetched
#: counter stops fetch_stops:misfetch
#: counter stalls fetch_stalls:misfetch
#: counter starved rob_starved
#: counter starved_misfetch rob_starved:misfetch
#: counter wstarved_misfetch window_starved:misfetch
#: counter empty empty_window:misfetch
#: expect fetch(first) == 22
#: expect fetch(exit) == 43
#: expect counter.misfetches == 2
#: expect counter.misfetched == 2
#: expect counter.stops == 2 * 21
#: expect counter.stalls == 2 * 20
#: expect counter.starved == 2 * 20
#: expect counter.starved_misfetch == 2 * 20
#: expect counter.wstarved_misfetch == 2 * 20
#: expect counter.empty == 5 + 18 + 13
#
# The first jump is fetched in cycle 1 and the second in 22; each ends its group and stops fetch for 20 cycles more, as
# the BTB does not know it; the first instruction behind it comes late. As much is decoded as fetched, so nothing is
# left for the front end in these. The window is empty up to cycle 6, in which what was fetched in 1 enters, and that
# retires in 9; from 10 to 27, and from 31 to 48: from 2 on for the misfetch, and from 44 on for the exit, which is
# fetched in 43.
    .include "fact.inc"
    begin
    nops 3
    j first
    nops 4
first:
    nops 3
    j second
    nops 4
second:
exit: finish
