#: set perfect.l1i=yes perfect.itlb=yes
#: expect fetch(read) - commit(slow) == 0
#: expect issue(read) - fetch(read) == 6
#: expect fetch(after) == fetch(read)
#
# A counter is read when all before it have retired, so that its value is exact: it is fetched when the last of them
# commits, and goes through the five stages of the front end. Those behind it do not wait.
    .include "fact.inc"
    begin
    li a2, 1
slow: div a3, a2, a2
read: rdinstret a4
after: addi a5, x0, 1
    finish
