#: set perfect.l1i=yes perfect.itlb=yes dtlb.entries=1 dtlb.ways=1 rob.size=1
#: counter all stall_breakdown
#: counter icache stall_breakdown:icache
#: counter branch stall_breakdown:branch
#: counter dcache stall_breakdown:dcache
#: counter translation stall_breakdown:translation
#: counter reject stall_breakdown:reject
#: counter fpu stall_breakdown:fpu
#: counter integer stall_breakdown:integer
#: counter hit stall_breakdown:hit
#: counter stores stall_breakdown:stores
#: counter other stall_breakdown:other
#: counter long stall_breakdown:dcache:thresh=262
#: counter completes completion_cycles
#: expect cycles == 1553
#: expect counter.completes == 28
#: expect counter.all == 1553 - 28
#: expect counter.icache == 0
#: expect counter.branch == 0
#: expect counter.dcache == 292 + 12 + 262 + 292 + 12 + 42
#: expect counter.translation == 0
#: expect counter.reject == 4 + 264
#: expect counter.fpu == 3 + 5 + 13
#: expect counter.integer == 12 * 2 + 4 + 21
#: expect counter.hit == 2 * 3
#: expect counter.stores == 263
#: expect counter.other == 6
#: expect counter.long == 2
#
# The program of event_head_stalls_by_reason, one instruction at a time: each enters in the cycle in which the one before
# retires, waits a cycle for its turn, then for what it needs, and the whole is charged to what it got last. The first
# enters in cycle 6.
# Data misses: memory after a walk 1 + 30 + 261, the second cache 1 + 11, memory 1 + 261, the second cache after a walk
# 1 + 30 + 11. The overlaps wait a cycle and 261 cycles for the store, then hit for 2: both are sent back. The fence
# waits 261 cycles for the store, then for its turn and for its own cycle. Hits are a plain one and a forwarded one.
# One cycle: five before the loads, four addresses of stores, three at the end. Two of the data misses take more than
# 262 cycles.
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
