#: set perfect.l1i=yes perfect.itlb=yes perfect.l1d=yes
#: run
#: expect complete(split) - issue(split) == 32
#: expect events.dtlb_walks_spec == 2
#: expect events.rejects_tlb == 2
#: run dtlb.entries=1 dtlb.ways=1
#: expect complete(split) - issue(split) == 32
#
# The first page's translation is there; the load waits for the second page's. It needs both only once: a TLB of one
# entry does not send it back for ever.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)            # 0
    li a4, 4092
    add a3, a1, a2
    add a3, a3, a4
split: ld a5, 0(a3)
    finish
