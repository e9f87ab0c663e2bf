#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes branch.btb_entries=0 fetch.branches=4
#: run
#: expect fetch(near) - fetch(a) == 1
#: expect fetch(far) - fetch(near) == 1
#: run fetch.lines=2
#: expect fetch(near) - fetch(a) == 0
#: expect fetch(far) - fetch(near) == 1
#: run fetch.lines=3
#: expect fetch(far) - fetch(a) == 0
#
# A taken branch reads its target's line from the cache, even the line that fetch is in: with one line per cycle it ends
# the group, so near comes a cycle after a, and far after near. Two lines are those of a and near, three all of them.
    .include "fact.inc"
    begin
a:  j near
    nops 2
near: j far
    .balign 64
far: nop
    finish
