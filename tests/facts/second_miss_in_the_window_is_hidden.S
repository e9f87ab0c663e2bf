#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: expect complete(b) - complete(a) == 1
#: expect commit(b) - commit(a) == 3
#
# The loads are 12 instructions apart, far less than the ROB of 128. The first dispatches at d and issues at d + 3, when
# its address is ready; the second dispatches at d + 3 and issues at d + 4. So it is complete when the 11 between them
# have committed, four per cycle: it commits 12 / 4 cycles after the first, as if it had hit.
    .include "fact.inc"
    begin
    la a1, area
a:  ld a2, 0(a1)
    nops 11
b:  ld a3, 128(a1)
    finish
