#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes perfect.l1d=yes
#: run
#: expect complete(load) - issue(load) == 2
#: expect issue(use) - issue(load) == 2
#: run l1d.latency=3
#: expect issue(use) - issue(load) == 3
#: expect commit(load) - issue(load) == 4
#
# A hit completes l1d.latency after its issue; its consumer issues then. The load is the oldest instruction when it
# completes, so it commits one cycle later.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)
use: addi a3, a2, 1
    finish
