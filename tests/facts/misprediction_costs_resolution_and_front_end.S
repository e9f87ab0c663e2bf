#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect fetch(target) - complete(branch) == 0
#: expect fetch(target) - fetch(branch) == 7
#: expect dispatch(target) - dispatch(branch) == 7
#: expect events.mispredictions == 1
#: run frontend.stages=9
#: expect dispatch(target) - dispatch(branch) == 11
#: run frontend.stages=14
#: expect dispatch(target) - dispatch(branch) == 16
#: run branch.latency=4
#: expect dispatch(target) - dispatch(branch) == 10
#
# The static predictor takes no forward branch. The branch dispatches at d, issues at d + 1, completes branch.latency
# later and redirects fetch in that cycle; the target dispatches frontend.stages later. So stages + 1 + latency.
    .include "fact.inc"
    begin
branch: beq x0, x0, target
    nops 7
    nops 8
target: nop
    finish
