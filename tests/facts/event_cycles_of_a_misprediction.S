#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: counter lost fetch_stops:lost
#: counter stalls_lost fetch_stalls:lost
#: counter wrong wrong_path_cycles
#: counter empty empty_window:branch
#: counter buffer fetch_stops:buffer
#: expect complete(branch) - fetch(branch) == 28
#: expect counter.lost == complete(branch) - fetch(branch)
#: expect counter.stalls_lost == complete(branch) - fetch(branch) - 1
#: expect counter.wrong == complete(branch) - fetch(branch)
#: expect counter.empty == 4
#: expect counter.buffer == 2
#
# The wrong path ends in the cycle in which it begins, and fetch is lost until the branch resolves in r; the right path
# is fetched in that cycle and enters in r + 5. The branch retires in r + 1, so the window is empty at the beginning of
# r + 2 to r + 5. Of the 40 instructions that follow, the front end takes 8 each in r to r + 3; in r + 4 it has room for
# 4, and in r + 5, when the first 4 have entered, for 4.
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
