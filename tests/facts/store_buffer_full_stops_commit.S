#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes store_buffer.size=1
#: run perfect.l1d=yes
#: expect complete(b) - complete(a) == 0
#: expect commit(b) - commit(a) == 2
#: expect cycles_by.commit.stores == 2
#: run
#: expect commit(b) - commit(a) == 262
#: expect cycles_by.commit.stores == 262
#: run store_buffer.size=2
#: expect commit(b) - commit(a) == 0
#: expect cycles_by.commit.stores == 0
#
# Both stores are complete when the first commits, at t. It leaves the only place at t + 1 if it hits, at t + 261 (2 + 9
# + 250) if not; that comes behind commit, so the second commits a cycle later. Commit was stopped in all cycles before,
# also in t, where it could have taken the second one.
    .include "fact.inc"
    begin
    la a1, area
a:  sd x0, 0(a1)
b:  sd x0, 128(a1)
    finish
