#: set perfect.l1i=yes perfect.itlb=yes
#: run issue.order=in_order
#: expect issue(waits) - issue(slow) == 20
#: expect issue(independent) - issue(waits) == 0
#: expect issue(later) - issue(waits) == 0
#: run
#: expect issue(waits) - issue(slow) == 20
#: expect issue(independent) - dispatch(independent) == 1
#
# In order, what follows the consumer of a quotient waits with it, and goes with it as there are units. Out of order it
# does not wait.
    .include "fact.inc"
    begin
    li a1, 1
slow: div a2, a1, a1
waits: addi a3, a2, 1
independent: addi a4, x0, 1
later: addi a5, x0, 1
    finish
