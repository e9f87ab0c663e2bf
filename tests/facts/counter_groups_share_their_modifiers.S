#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: counter loads,stores {loads,stores}
#: counter here_loads,here_stores,here_insns {loads,stores,instructions}:ip=@begin-@end
#: counter bytes,any {loads:byte,stores}:u
#: counter alone branches
#: counter none,nothing {loads:ip=@begin-@end,cycles}:m
#: counter cycles,three {cycles,stores}:marked
#: expect counter.loads == 4
#: expect counter.stores == 3
#: expect counter.here_loads == 2
#: expect counter.here_stores == 1
#: expect counter.here_insns == 3
#: expect counter.bytes == 1
#: expect counter.any == 3
#: expect counter.alone == 0
#: expect counter.none == 0
#: expect counter.nothing == 0
#: expect counter.cycles == cycles
#: expect counter.three == 3
#
# Two loads, one of them of a byte, and a store stand between the labels, two of each around them. A group's modifiers
# are those of each member, besides its own.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    sd zero, 64(a1)
begin: lbu a3, 8(a1)
    sd zero, 72(a1)
    ld a4, 16(a1)
end:
    ld a5, 24(a1)
    sd zero, 80(a1)
    finish
