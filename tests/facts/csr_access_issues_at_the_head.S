#: set perfect.l1i=yes perfect.itlb=yes
#: expect issue(read) - commit(slow) == 0
#: expect complete(read) - issue(read) == 1
#: expect issue(after) < issue(read)
#
# An access to a CSR waits for everything older, and for nothing else does anything younger wait.
    .include "fact.inc"
    begin
    li a2, 1
slow: div a3, a2, a2
read: frflags a4
after: addi a5, x0, 1
    finish
