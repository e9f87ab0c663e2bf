#: set perfect.l1i=yes perfect.itlb=yes fetch.width=4
#: counter cycles head_stalls:unit
#: counter number head_stalls:unit:edge
#: counter ended head_stalls:unit:edge:inv
#: counter bursts instructions:edge
#: counter pauses instructions:edge:inv
#: counter wide instructions:thresh=3:edge
#: counter narrow instructions:thresh=3:inv:edge
#: counter once cycles:edge
#: counter never cycles:edge:inv
#: expect complete(a) - commit(before_a) == 19
#: expect complete(b) - commit(before_b) == 17
#: expect complete(c) - commit(before_c) == 17
#: expect counter.cycles == 19 + 17 + 17
#: expect counter.number == 3
#: expect counter.ended == 3
#: expect counter.bursts == 5
#: expect counter.pauses == 4
#: expect counter.wide == 4
#: expect counter.narrow == 4
#: expect counter.once == 1
#: expect counter.never == 0
#
# Three divisions, each of which waits for the one before, hold up commit: from the cycle after the commit before to the
# one in which they complete. Instructions commit in five runs of cycles, the last of which is the exit. A falling edge
# needs a cycle in which the condition held: cycles before the first such cycle make no edge. In the first four runs commit begins
# with its full width of 4, and does not keep it up to their end; the exit is alone.
    .include "fact.inc"
    begin
    li a1, 30
    li a2, 1
    nops 5
before_a: nop
a:  div a3, a1, a2
    nops 7
before_b: nop
b:  div a4, a3, a2
    nops 7
before_c: nop
c:  div a5, a4, a2
    nops 8
    finish
