#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.mshrs=1
#: expect issue(b) - issue(a) == 0
#: expect last_issue(b) - issue(a) == 261
#: expect complete(b) - issue(a) == 522
#: expect events.rejects_mshr == 1
#
# The second miss is sent back, and tries again when the only MSHR becomes free, with the arrival of the first line.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
b:  ld a3, 128(a1)
    finish
