#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes store_buffer.size=1
#: counter stops commit_stops:stores
#: counter stalls commit_stalls:stores
#: counter full store_buffer_full_cycles
#: counter head head_stalls:l2d
#: counter data data_stalls:memory
#: expect commit(b) - commit(a) == 262
#: expect counter.stops == 262
#: expect counter.stalls == 261
#: expect counter.full == 262
#: expect counter.head == 261
#: expect counter.data == 261
#
# The first store retires in t and goes to memory; it leaves its place in t + 261, and the second retires a cycle later.
# Commit stops at it from t on, and from t + 1 on it does nothing else. What the oldest instruction waits for is what
# the store waits for.
    .include "fact.inc"
    begin
    la a1, area
a:  sd x0, 0(a1)
b:  sd x0, 128(a1)
    finish
