#: set perfect.l1i=yes perfect.itlb=yes
#: expect cycles_by.commit.empty == dispatch(first) - fetch(first) + 1 + 1
#: expect cycles_by.commit.width == 1
#: expect cycles_by.commit.head == cycles - 8
#
# The ROB is empty up to the cycle in which the first instruction dispatches, and runs empty as the last one commits.
# Once four instructions commit, those that waited for the quotient. In all other cycles something not complete ends it.
    .include "fact.inc"
    begin
first: li a2, 1
    div a3, a2, a2
    nops 4
    finish
