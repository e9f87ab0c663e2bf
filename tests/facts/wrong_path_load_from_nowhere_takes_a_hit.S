#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect complete(wrong.load) - issue(wrong.load) == 2
#: expect events.l1d_accesses_spec == 0
#: expect events.dtlb_walks_spec == 0
#: expect exit_status == 0
#
# An address that is no memory: nothing is asked for, nothing faults, and what depends on the load goes on after
# l1d.latency.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
    beq a3, a2, right
load: ld a4, 0(x0)
    nops 4
right: nop
    finish
