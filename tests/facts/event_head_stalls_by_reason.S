#: set perfect.l1i=yes perfect.itlb=yes dtlb.entries=1 dtlb.ways=1
#: run rob.size=1
#: counter head head_stalls
#: counter head_issue head_stalls:issue
#: counter head_alu head_stalls:alu
#: counter head_unit head_stalls:unit
#: counter head_fpu head_stalls:fpu
#: counter head_l1d_hit head_stalls:l1d_hit
#: counter head_l1d head_stalls:l1d
#: counter head_l2d head_stalls:l2d
#: counter head_dtlb head_stalls:dtlb
#: counter head_walked head_stalls:walked
#: counter head_reject head_stalls:reject
#: counter head_stores head_stalls:stores
#: counter blocked rob_blocked
#: counter blocked_nothing rob_blocked:nothing
#: counter blocked_issue rob_blocked:issue
#: counter blocked_alu rob_blocked:alu
#: counter blocked_unit rob_blocked:unit
#: counter blocked_fpu rob_blocked:fpu
#: counter blocked_l1d_hit rob_blocked:l1d_hit
#: counter blocked_l1d rob_blocked:l1d
#: counter blocked_l2d rob_blocked:l2d
#: counter blocked_dtlb rob_blocked:dtlb
#: counter blocked_walked rob_blocked:walked
#: counter blocked_reject rob_blocked:reject
#: counter blocked_stores rob_blocked:stores
#: counter wblocked window_blocked
#: counter wblocked_nothing window_blocked:nothing
#: counter wblocked_issue window_blocked:issue
#: counter wblocked_alu window_blocked:alu
#: counter wblocked_unit window_blocked:unit
#: counter wblocked_fpu window_blocked:fpu
#: counter wblocked_l1d_hit window_blocked:l1d_hit
#: counter wblocked_l1d window_blocked:l1d
#: counter wblocked_l2d window_blocked:l2d
#: counter wblocked_dtlb window_blocked:dtlb
#: counter wblocked_walked window_blocked:walked
#: counter wblocked_reject window_blocked:reject
#: counter wblocked_stores window_blocked:stores
#: counter data data_stalls
#: counter data_l1 data_stalls:l1
#: counter data_lower data_stalls:lower
#: counter data_memory data_stalls:memory
#: counter data_walked data_stalls:walked
#: counter translation translation_stalls
#: counter reject reject_stalls
#: counter fpu fpu_stalls
#: counter integer integer_stalls
#: counter integer_alu integer_stalls:alu
#: counter integer_long integer_stalls:long
#: counter turn turn_stalls
#: counter store store_stalls
#: counter open window_open
#: counter full rob_full_cycles
#: counter rob rob_occupancy
#: counter rob_empty rob_empty_cycles
#: counter stalls dispatch_stalls
#: counter stalls_rob dispatch_stalls:rob
#: counter stalls_empty dispatch_stalls:empty
#: counter stops_rob dispatch_stops:rob
#: counter stops_empty dispatch_stops:empty
#: counter back back_end_stalls
#: counter front front_end_stalls
#: counter completes completion_cycles
#: counter moves moving_cycles
#: counter entries window_entries
#: counter empty empty_window
#: counter commit_head commit_stops:head
#: counter commit_empty commit_stops:empty
#: counter commit_stalls_head commit_stalls:head
#: counter commit_stalls_empty commit_stalls:empty
#: counter dispatches dispatch_cycles
#: expect cycles == 1553
#: expect counter.head == 1519
#: expect counter.head_issue == 28
#: expect counter.head_alu == 13
#: expect counter.head_unit == 3 + 20
#: expect counter.head_fpu == 2 + 4 + 12
#: expect counter.head_l1d_hit == 4 * 2
#: expect counter.head_l1d == 2 * 11
#: expect counter.head_l2d == 3 * 261
#: expect counter.head_dtlb == 3 * 30
#: expect counter.head_walked == 11
#: expect counter.head_reject == 1 + 261
#: expect counter.head_stores == 261
#: expect counter.blocked == 1547
#: expect counter.blocked_nothing == 28
#: expect counter.blocked_issue == 28
#: expect counter.blocked_alu == 13
#: expect counter.blocked_unit == 3 + 20
#: expect counter.blocked_fpu == 2 + 4 + 12
#: expect counter.blocked_l1d_hit == 4 * 2
#: expect counter.blocked_l1d == 2 * 11
#: expect counter.blocked_l2d == 3 * 261
#: expect counter.blocked_dtlb == 3 * 30
#: expect counter.blocked_walked == 11
#: expect counter.blocked_reject == 1 + 261
#: expect counter.blocked_stores == 261
#: expect counter.wblocked == 1547
#: expect counter.wblocked_nothing == 28
#: expect counter.wblocked_issue == 28
#: expect counter.wblocked_alu == 13
#: expect counter.wblocked_unit == 3 + 20
#: expect counter.wblocked_fpu == 2 + 4 + 12
#: expect counter.wblocked_l1d_hit == 4 * 2
#: expect counter.wblocked_l1d == 2 * 11
#: expect counter.wblocked_l2d == 3 * 261
#: expect counter.wblocked_dtlb == 3 * 30
#: expect counter.wblocked_walked == 11
#: expect counter.wblocked_reject == 1 + 261
#: expect counter.wblocked_stores == 261
#: expect counter.data == 8 + 22 + 783 + 11
#: expect counter.data_l1 == 8
#: expect counter.data_lower == 22
#: expect counter.data_memory == 783
#: expect counter.data_walked == 11
#: expect counter.translation == 90
#: expect counter.reject == 262
#: expect counter.fpu == 18
#: expect counter.integer == 13 + 23
#: expect counter.integer_alu == 13
#: expect counter.integer_long == 23
#: expect counter.turn == 28
#: expect counter.store == 261
#: expect counter.open == 5 + 1
#: expect counter.full == 1547
#: expect counter.rob == 1547
#: expect counter.rob_empty == 6
#: expect counter.stalls == 1517 + 8
#: expect counter.stalls_rob == 1517
#: expect counter.stalls_empty == 8
#: expect counter.stops_rob == 1517 + 27
#: expect counter.stops_empty == 8 + 1
#: expect counter.back == 1517
#: expect counter.front == 8
#: expect counter.completes == 28
#: expect counter.moves == 29
#: expect counter.entries == 1
#: expect counter.empty == 6
#: expect counter.commit_head == 1519
#: expect counter.commit_empty == 28 + 6
#: expect counter.commit_stalls_head == 1519
#: expect counter.commit_stalls_empty == 6
#: expect counter.dispatches == 28
#: run issue.order=in_order_serial
#: counter open window_open
#: counter open_nothing window_open:nothing
#: counter open_issue window_open:issue
#: counter open_alu window_open:alu
#: counter open_unit window_open:unit
#: counter open_fpu window_open:fpu
#: counter open_l1d_hit window_open:l1d_hit
#: counter open_l1d window_open:l1d
#: counter open_l2d window_open:l2d
#: counter open_dtlb window_open:dtlb
#: counter open_walked window_open:walked
#: counter open_reject window_open:reject
#: counter open_stores window_open:stores
#: counter head_issue head_stalls:issue
#: counter head_alu head_stalls:alu
#: counter head_unit head_stalls:unit
#: counter head_fpu head_stalls:fpu
#: counter head_l1d_hit head_stalls:l1d_hit
#: counter head_l1d head_stalls:l1d
#: counter head_l2d head_stalls:l2d
#: counter head_dtlb head_stalls:dtlb
#: counter head_walked head_stalls:walked
#: counter head_reject head_stalls:reject
#: counter head_stores head_stalls:stores
#: counter blocked rob_blocked
#: counter wblocked window_blocked
#: expect cycles == 1529
#: expect counter.open == 1529
#: expect counter.open_nothing == 28 + 6
#: expect counter.open_issue == 2
#: expect counter.open_alu == 13
#: expect counter.open_unit == 3 + 20
#: expect counter.open_fpu == 2 + 4 + 12
#: expect counter.open_l1d_hit == 4 * 2
#: expect counter.open_l1d == 2 * 11
#: expect counter.open_l2d == 3 * 261
#: expect counter.open_dtlb == 3 * 30
#: expect counter.open_walked == 11
#: expect counter.open_reject == 2 + 262
#: expect counter.open_stores == 261
#: expect counter.head_issue == 2
#: expect counter.head_alu == 13
#: expect counter.head_unit == 3 + 20
#: expect counter.head_fpu == 2 + 4 + 12
#: expect counter.head_l1d_hit == 4 * 2
#: expect counter.head_l1d == 2 * 11
#: expect counter.head_l2d == 3 * 261
#: expect counter.head_dtlb == 3 * 30
#: expect counter.head_walked == 11
#: expect counter.head_reject == 2 + 262
#: expect counter.head_stores == 261
#: expect counter.blocked == 0
#: expect counter.wblocked == 0
#
# 28 instructions, one at a time. With a ROB of one entry each enters in the cycle in which the one before retires,
# waits for its turn in the next, then for what it needs, and retires a cycle after it has it. So each makes a full ROB
# for one cycle in which nothing waits, one for its turn, and its latency. The first enters in cycle 6; in the last, in
# which the exit retires, the ROB is empty.
# ALUs or one cycle: five before the loads, four addresses of stores, the fence, three at the end. Units: 3 and 20.
# Floating point: 2, 4 and 12. First cache, or forwarded: four of 2. Second cache: two of 2 + 9; the same after a walk,
# as the TLB has one entry, which the load of the other page has taken. Memory: three of 2 + 9 + 250, two of them after
# a walk of 30.
# An overlap that hits: the store retires and accesses the cache in c and leaves at the end of c + 1. The load issues in
# c + 1, is sent back, and goes again in c + 2, after one cycle of waiting. The one that misses leaves at the end of c +
# 261, which makes 261. The fence waits for such a store from c + 1 to c + 261, and has its turn in c + 262.
# Dispatch stops at a full ROB as long as something waits behind it: not when the exit is in it, for four cycles, in
# three of which nothing is dispatched, and not in the first five.
# When one issues only after the one before has retired, it issues in that cycle, and none waits for its turn but the
# first and the fence; loads are sent back a cycle earlier. The ROB is never full.
    .include "fact.inc"
    begin
    la a1, area
    lui a5, 1
    add a5, a5, a1
    li a2, 1
    ld a3, 0(a1)            # walks, from memory
    ld a3, 8(a1)            # hits
    ld a3, 32(a1)           # from the second cache
    ld a3, 128(a1)          # from memory
    ld a3, 0(a5)            # walks, from memory
    ld a3, 32(a5)           # from the second cache
    ld a3, 160(a1)          # walks, from the second cache
    mul a3, a2, a2
    div a3, a2, a2
    fcvt.d.l f2, a2
    fmul.d f3, f2, f2
    fdiv.d f3, f2, f2
    sw a2, 4(a1)            # hits
    ld a3, 0(a1)            # overlaps
    sw a2, 256(a1)          # from memory
    ld a3, 256(a1)          # overlaps
    sd a2, 16(a1)           # hits
    ld a3, 16(a1)           # forwarded
    sw a2, 320(a1)          # from memory
    fence
    li a0, 0
    li a7, 93
exit: ecall
