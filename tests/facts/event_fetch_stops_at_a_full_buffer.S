#: set perfect.l1i=yes perfect.itlb=yes rob.size=8 div.latency=100
#: counter stops fetch_stops:buffer
#: counter stalls fetch_stalls:buffer
#: expect fetch(exit) == 115
#: expect counter.stops == 5 + 99 + 6
#: expect counter.stalls == 1 + 99 + 2
#
# The front end holds 36 instructions, and has as many in cycle 5. From then on fetch brings what leaves it: four in
# cycles 6 and 7, then the ROB is full; one in 9, when the first has retired; none up to 108, in which the division
# completes (it issues in 8). Then four retire in 109 and 110, 112 and 113, 115 and so on: instructions that enter when
# others retire retire three cycles later. The last are fetched in 115.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
    nops 60
    li a0, 0
    li a7, 93
exit: ecall
