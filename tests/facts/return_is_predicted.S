#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: run
#: expect fetch(function) - fetch(call) == 1
#: expect fetch(after) - fetch(function) == 1
#: expect events.mispredictions == 0
#: run branch.ras_entries=0 branch.indirect_bits=0
#: expect fetch(after) - complete(function) == 0
#: expect events.return_mispredictions == 1
#
# The call is the last of its line, so both ways lead to a new line, a cycle each. The return stack predicts the return
# after the first call; without a return stack nothing does, and fetch waits for the return to resolve.
    .include "fact.inc"
    begin
    nops 7
call: jal ra, function
after: nop
    finish
    .balign 64
function: ret
    ecall                   # the wrong path ends here
