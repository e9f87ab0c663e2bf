#: set perfect.l1i=yes perfect.itlb=yes issue.width=2
#: counter stops issue_stops
#: counter width issue_stops:width
#: counter issues issue_cycles
#: expect counter.stops == cycles
#: expect counter.width == 7
#: expect counter.issues == 7 + 1
#
# Fourteen instructions are ready faster than two of them issue per cycle, and the exit issues alone.
    .include "fact.inc"
    begin
    nops 12
    finish
