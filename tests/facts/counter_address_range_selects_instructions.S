#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: counter all loads
#: counter both loads:ip=@second-@last
#: counter to_end loads:ip=@second-@after
#: counter none loads:ip=@after-@end
#: counter one instructions:ip=@second-@third
#: counter rounds instructions:ip=@last-@after
#: counter whole instructions:ip=@_start-@end
#: counter every instructions
#: expect counter.all == 3 + 4
#: expect counter.both == 2
#: expect counter.to_end == 2 + 4
#: expect counter.none == 0
#: expect counter.one == 1
#: expect counter.rounds == 3 * 4
#: expect counter.whole == counter.every
#: expect counter.every == instructions
#
# A range begins with its first address and ends before its last: from `second` to `last` are two loads, and four more
# in the loop, of three instructions and four rounds, that begins at `last`.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 4
first: ld a3, 0(a1)
second: ld a4, 8(a1)
third: ld a5, 16(a1)
last: ld a6, 24(a1)
    addi a2, a2, -1
    bnez a2, last
after: nop
    finish
end:
