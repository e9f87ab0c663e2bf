#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes div.latency=100
#: run iq.size=4
#: counter stops dispatch_stops:iq
#: counter stalls dispatch_stalls:iq
#: counter full iq_full_cycles
#: counter back back_end_stalls
#: counter rob_blocked rob_blocked
#: counter blocked window_blocked
#: counter nothing window_blocked:nothing
#: counter issue window_blocked:issue
#: counter alu window_blocked:alu
#: counter unit window_blocked:unit
#: expect issue(div) == 8
#: expect counter.stops == 2 + 99
#: expect counter.stalls == 99
#: expect counter.full == 2 + 99
#: expect counter.back == 99
#: expect counter.rob_blocked == 0
#: expect counter.blocked == 2 + 99
#: expect counter.nothing == 1
#: expect counter.issue == 1
#: expect counter.alu == 1
#: expect counter.unit == 98
#: run rename.int_regs=33
#: counter stops dispatch_stops:regs
#: counter stalls dispatch_stalls:regs
#: counter full registers_full_cycles
#: counter back back_end_stalls
#: counter rob_blocked rob_blocked
#: counter blocked window_blocked
#: expect issue(div) == 8
#: expect commit(div) == 109
#: expect counter.stops == 118 - 6 + 1
#: expect counter.stalls == 2 + 99 + 3
#: expect counter.full == 118 - 6 + 1
#: expect counter.back == 2 + 99 + 3
#: expect counter.rob_blocked == 0
#: expect counter.blocked == 118 - 6 + 1
#
# The division needs a constant, issues in cycle 8 and completes in 108; what follows needs its result. An issue queue
# of four is full in 7, when one has issued and one comes for it, in 8, when the division has, and up to 107, as four
# wait for the division. From 108 on as many issue as come. In these cycles the oldest instruction waits for its turn in
# 7, for its ALU in 8, retires in 9, and after that it is the division.
# With two registers besides those of the program the constant and the division enter in 6, and one addition in 9, when
# the constant has retired. The division retires in 109 and the addition, which has waited for it, in 110; in each of
# these cycles another addition enters, which retires three cycles later, and so on: two in every three cycles. Dispatch
# stops for it from 6 on up to 118, when the sixth of the additions retires and the first constant of the exit enters;
# with the seventh the rest enters. Nothing enters in 7, 8, 10 to 108, 111, 114 and 117.
    .include "fact.inc"
    begin
    li a2, 1
div: div a3, a2, a2
    add a4, a3, a3
    add a4, a3, a3
    add a4, a3, a3
    add a4, a3, a3
    add a4, a3, a3
    add a4, a3, a3
    add a4, a3, a3
    finish
