#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0 l3.size=1M
#: set l3.line=128 div.latency=100
#: counter merges merges
#: counter merges_spec merges:spec
#: counter l1d merges:l1d
#: counter l2d merges:l2d
#: counter l3d merges:l3d
#: counter l1d_spec merges:l1d:spec
#: counter l2d_spec merges:l2d:spec
#: counter l3d_spec merges:l3d:spec
#: counter l3_load_spec l3_accesses:load:spec
#: counter l3_misses_load_spec l3_access_misses:load:spec
#: counter accesses l1d_accesses
#: counter misses l1d_misses
#: counter l2 l2_accesses
#: counter l2_misses l2_access_misses
#: counter l3 l3_accesses
#: counter l3_misses l3_access_misses
#: counter misses_l2 l2d_misses
#: counter memory load_sources:memory
#: counter bus bus_transactions
#: expect issue(wrong.last) < complete(branch)
#: expect counter.merges == 2 + 1 + 1
#: expect counter.merges_spec == 4 + 2 + 1
#: expect counter.l1d == 2
#: expect counter.l2d == 1
#: expect counter.l3d == 1
#: expect counter.l1d_spec == 2 + 2
#: expect counter.l2d_spec == 1 + 1
#: expect counter.l3d_spec == 1
#: expect counter.l3_load_spec == 2
#: expect counter.l3_misses_load_spec == 2
#: expect counter.accesses == 5
#: expect counter.misses == 5
#: expect counter.l2 == 3
#: expect counter.l2_misses == 3
#: expect counter.l3 == 2
#: expect counter.l3_misses == 2
#: expect counter.misses_l2 == 5
#: expect counter.memory == 5
#: expect counter.bus == 16
#
# All loads are of one line of the third cache, which is on its way from memory as of the first. The second and third
# are of the same line of the first cache: they merge there. The fourth is of the other half of the line of the second
# cache and merges there; the fifth merges in the third. On the wrong path two more merge in the first cache, and one in
# the second, whose line the fifth load has brought under way. A merged miss is a miss.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    div a3, a2, a2
    ld x0, 0(a1)
    ld x0, 8(a1)
    ld x0, 16(a1)
    ld x0, 32(a1)
    ld x0, 64(a1)
branch: beq a3, a2, right
    ld x0, 40(a1)
    ld x0, 72(a1)
last: ld x0, 96(a1)
    ecall                   # the wrong path ends here
right:
    finish
