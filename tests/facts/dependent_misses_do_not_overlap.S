#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect issue(b) - issue(a) == 261
#: expect complete(b) - complete(a) == 261
#
# The address of the second load is the data of the first.
    .include "fact.inc"
    .data
    .balign 64
pointer: .dword area
    .balign 64
    begin
    la a1, pointer
a:  ld a2, 0(a1)
b:  ld a3, 0(a2)
    finish
