#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l2.size=0 l1d.allocate=no
#: run
#: expect events.bus_busy_cycles == 0
#: expect commit(b) - commit(a) == 0
#: expect issue(order) - commit(a) == 3
#: run memory.write_cycles=20
#: expect events.bus_writes == 3
#: expect events.bus_busy_cycles == 60
#: expect commit(b) - commit(a) == 0
#: expect issue(order) - commit(a) == 63
#: run memory.write_cycles=20 store_buffer.size=1
#: expect commit(b) - commit(a) == 23
#: expect commit(c) - commit(b) == 23
#: run memory.write_cycles=20 memory.bytes_per_cycle=8
#: expect events.bus_busy_cycles == 60
#: expect issue(order) - commit(a) == 63
#
# No cache takes the stores, which commit at t, t and t + 1. Without a cost of writes each leaves the store buffer after a
# cycle, the last one at t + 2, which the fence sees in the next cycle. With 20 cycles for a write, the first is on
# the bus from t + 2 on, behind the 2 cycles of the L1D, and leaves at t + 22; the others follow at t + 42 and t + 62. If
# the buffer has one place, the second store commits a cycle after the first has left, at t + 23, and the third 23 cycles
# later. The 8 bytes of a store take one cycle of a bus of 8 bytes per cycle, less than memory takes.
    .include "fact.inc"
    begin
    la a1, area
a:  sd x0, 0(a1)
b:  sd x0, 64(a1)
c:  sd x0, 128(a1)
order: fence
    finish
