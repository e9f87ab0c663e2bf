#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: counter plain loads:preload=0
#: counter later loads:preload=1K
#: counter wrapped loads:preload=0xfffffffffffffffe
#: counter here loads:preload=7:ip=@second-@end
#: counter cycles cycles:preload=100
#: counter edges cycles:edge:preload=10
#: counter machine cycles:m:preload=10
#: expect counter.plain == 4
#: expect counter.later == 1004
#: expect counter.wrapped == 2
#: expect counter.here == 7 + 3
#: expect counter.cycles == cycles + 100
#: expect counter.edges == 11
#: expect counter.machine == 10
#
# A counter has 64 bits and goes on at 0 behind the last of them.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
second: ld a3, 8(a1)
    ld a4, 16(a1)
    ld a5, 24(a1)
    finish
end:
