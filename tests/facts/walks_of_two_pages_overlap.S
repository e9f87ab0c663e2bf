#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes
#: expect issue(b) - issue(a) == 0
#: expect complete(a) - issue(a) == 32
#: expect complete(b) - complete(a) == 0
#: expect events.dtlb_walks_spec == 2
#
# Any number of walks go on at a time.
    .include "fact.inc"
    begin
    la a1, area
    li s1, 4096
    add s1, s1, a1
    nops 3
a:  ld a2, 0(s1)
b:  ld a3, -64(s1)
    finish
