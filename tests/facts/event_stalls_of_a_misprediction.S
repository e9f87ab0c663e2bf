#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: counter branch stall_breakdown:branch
#: counter integer stall_breakdown:integer
#: expect counter.branch == dispatch(right) - commit(branch)
#: expect counter.branch == 4
#: expect counter.integer == 2 + 19 + 2 + 1
#
# The branch resolves in r and retires in r + 1, and the right path, fetched in r, enters in r + 5: the window is empty at
# the beginning of r + 2 to r + 5. The first instruction waits for its turn and its ALU, and retires in c. The division
# issues in c - 1, when that result is there, takes 20 cycles and retires in c + 20, the branch a cycle later: 19 cycles in
# between. After the refill there are the turn and the ALU of the first instruction again, and the exit's cycle.
    .include "fact.inc"
    begin
    li a2, 1
    div a3, a2, a2
branch: beq a3, a2, right
    nop
    ecall                   # the wrong path ends here
right:
    nops 40
    finish
