#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: run iq.size=4
#: expect dispatch(fourth) < complete(load)
#: expect issue(fourth) - complete(load) == 0
#: expect dispatch(next) - issue(fourth) == 0
#: run iq.size=5
#: expect dispatch(next) < complete(load)
#
# A load leaves the queue when it issues; the four that wait for its data fill it. They issue when the data comes, and
# the next enters in that cycle, since dispatch comes behind issue.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    addi a3, a2, 1
    addi a4, a2, 2
    addi a5, a2, 3
fourth: addi a6, a2, 4
next: nop
    finish
