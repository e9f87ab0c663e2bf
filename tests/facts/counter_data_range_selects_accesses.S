#: set perfect.l1i=yes perfect.itlb=yes
#: counter all stores
#: counter word stores:addr=@word-@behind
#: counter byte stores:addr=@last_byte-@behind
#: counter before stores:addr=@area-@word
#: counter behind stores:addr=@behind-@far
#: counter loads loads:addr=@area-@far
#: counter both loads:addr=@area-@far:ip=@load-@end
#: counter none loads:addr=@area-@far:ip=@_start-@load
#: expect counter.all == 5
#: expect counter.word == 3
#: expect counter.byte == 2
#: expect counter.before == 2
#: expect counter.behind == 2
#: expect counter.loads == 1
#: expect counter.both == 1
#: expect counter.none == 0
#
# An access counts if it touches a byte of the range. Of the four bytes at `word`, the first store has the four bytes
# before, the second crosses the beginning, the third is the last byte, the fourth crosses the end, the fifth is behind.
# Both filters must let an access pass.
    .include "fact.inc"
    .set word, area + 16
    .set last_byte, area + 19
    .set behind, area + 20
    .set far, area + 4096
    begin
    la a1, area
    sw zero, 12(a1)
    sh zero, 15(a1)
    sb zero, 19(a1)
    sh zero, 19(a1)
    sw zero, 20(a1)
load: ld a2, 32(a1)
    finish
end:
