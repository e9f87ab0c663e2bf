#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: expect issue(branch) - issue(load) == 261
#: expect fetch(target) - issue(load) == 262
#
# The condition comes from memory: the branch issues with the data, resolves a cycle later, and all that time fetch was
# on the wrong path.
    .include "fact.inc"
    begin
    la a1, area
load: ld a2, 0(a1)          # 0
branch: beqz a2, target
    nops 12
target: nop
    finish
