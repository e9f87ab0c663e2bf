#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes memory.latency=5000
#: expect complete(load) - issue(load) == 5011
#: expect commit(load) - issue(load) == 5012
#
# 2 + 9 + 5000, however far ahead the core plans.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
    finish
