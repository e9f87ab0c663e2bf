#: set perfect.l1i=yes perfect.itlb=yes
#: expect issue(sync) - commit(slow) == 0
#: expect commit(sync) - issue(sync) == 2
#: expect fetch(next) - commit(sync) == 0
#: expect cycles_by.fetch.serial == 41
#
# What follows is fetched in the cycle in which fence.i commits. All is fetched at f: li issues at f + 6, div at f + 7,
# commits at f + 28; fence.i issues then and commits at f + 30. Fetch is stopped from f to f + 29. The exit is fetched
# at f + 30 with the three before it, dispatches at f + 35, issues when these have committed, at f + 38, and commits at
# f + 40: 11 more cycles.
    .include "fact.inc"
    begin
    li a2, 1
slow: div a3, a2, a2
sync: fence.i
next: nop
    finish
