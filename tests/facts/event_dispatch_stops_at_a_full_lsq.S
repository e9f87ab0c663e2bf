#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes lsq.size=2
#: counter stops dispatch_stops:lsq
#: counter stalls dispatch_stalls:lsq
#: counter full lsq_full_cycles
#: counter blocked rob_blocked
#: counter wblocked window_blocked
#: counter nothing rob_blocked:nothing
#: counter issue rob_blocked:issue
#: counter alu rob_blocked:alu
#: counter l2d rob_blocked:l2d
#: counter hit rob_blocked:l1d_hit
#: counter wnothing window_blocked:nothing
#: counter wissue window_blocked:issue
#: counter walu window_blocked:alu
#: counter wl2d window_blocked:l2d
#: counter whit window_blocked:l1d_hit
#: counter rob_full rob_full_cycles
#: expect issue(first) == 9
#: expect commit(first) == 271
#: expect counter.stops == 264 + 1 + 3
#: expect counter.stalls == 264 + 3
#: expect counter.full == 264 + 1 + 3
#: expect counter.blocked == 264 + 1 + 3
#: expect counter.wblocked == 264 + 1 + 3
#: expect counter.nothing == 3
#: expect counter.issue == 2
#: expect counter.alu == 1
#: expect counter.l2d == 260
#: expect counter.hit == 2
#: expect counter.wnothing == 3
#: expect counter.wissue == 2
#: expect counter.walu == 1
#: expect counter.wl2d == 260
#: expect counter.whit == 2
#: expect counter.rob_full == 0
#
# The first two of six loads enter with their address in cycle 6, and wait for the same line: they issue in 9, when they
# have their address, complete in 270 and retire in 271, when the next two enter. These hit, and retire in 275; then
# there is room for the rest. Dispatch stops at the third load from 7 to 270, at the fifth from 271 to 274. The oldest
# instruction waits for its turn in 7 and in 272, when the third load has entered, for an ALU in 8, and for data from 11
# to 270, and in 273 and 274; in 9, 10 and 271 it retires.
    .include "fact.inc"
    begin
    la a1, area
first: ld a2, 0(a1)
    .rept 5
    ld a2, 0(a1)
    .endr
    finish
