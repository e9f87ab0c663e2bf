#: set perfect.branch=yes perfect.itlb=yes
#: counter misses l1i_misses
#: counter misses_spec l1i_misses:spec
#: counter misses_l2 l2i_misses
#: counter misses_l2_spec l2i_misses:spec
#: counter accesses l1i_accesses
#: counter access_misses l1i_access_misses
#: counter stops fetch_stops:l2i
#: counter stalls fetch_stalls:l2i
#: counter stops_l1i fetch_stops:l1i
#: counter stalls_l1i fetch_stalls:l1i
#: expect counter.misses == 1 + 1 + 1
#: expect counter.misses_spec == 1 + 2 + 1
#: expect counter.misses_l2 == 1 + 1
#: expect counter.misses_l2_spec == 1 + 2
#: expect counter.accesses == 1 + 2 + 1
#: expect counter.access_misses == 1 + 2 + 1
#: expect counter.stops == 3 * 259
#: expect counter.stalls == 259 + 258 + 259
#: expect counter.stops_l1i == 9
#: expect counter.stalls_l1i == 8
#
# The target of the jump lies across two lines, which are of two lines of the second cache as well: one instruction that
# missed, two fetches that did, both from memory. The last instructions lie in the line behind that, which the second
# cache has by then. Each takes 259 cycles from memory and 9 from the second cache; the first line of the target is
# asked for in the cycle that brings the jump, and the last one in the cycle that brings the last of the line before:
# these are no stalls.
    .include "fact.inc"
    begin
    j target
    .balign 64
    .option rvc
    .rept 31
    c.nop
    .endr
    .option norvc
target: nop
    nops 6
    .option rvc
    c.nop
    .option norvc
    finish
