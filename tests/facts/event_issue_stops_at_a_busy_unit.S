#: set perfect.l1i=yes perfect.itlb=yes
#: counter stops issue_stops:units
#: counter stalls issue_stalls:units
#: counter busy units_busy_cycles
#: counter stalls_operands issue_stalls:operands
#: counter issues issue_cycles
#: expect issue(second) == 28
#: expect counter.stops == 20
#: expect counter.stalls == 19
#: expect counter.busy == 20
#: expect counter.stalls_operands == 20
#: expect counter.issues == 4
#
# Both divisions have their operands in cycle 8, when the first issues, and a constant besides. The divider is free
# again 20 cycles later, for the second, in 28. Constants also issue in 7. The exit waits until that has retired, at 49,
# while nothing else is in the issue queue: from 29 to 48, and before that only together with the division. In 49 it
# issues.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
second: div a4, a2, a2
    finish
