#: set perfect.itlb=yes
#: run l1i.prefetch=next_line
#: expect events.l1i_misses == 3
#: expect events.l2i_misses == 3
#: expect events.l1i_primary_misses == 1
#: expect events.l2i_primary_misses == 1
#: expect stack.naive.l1i == 9
#: expect stack.naive.l2i == 250
#: expect stack.naive_nonspec.l1i == 9
#: expect stack.naive_nonspec.l2i == 250
#: run l2.prefetch=next_line
#: expect events.l1i_primary_misses == 6
#: expect events.l2i_primary_misses == 1
#: expect stack.naive.l1i == 6 * 9
#: expect stack.naive.l2i == 250
#
# Fetch requests the first of six lines of code. The prefetcher of the first cache requests the lines behind it; fetch
# misses two of them that are still on their way, which are no further events. The prefetcher of the second cache, whose
# lines are twice as long, leaves six misses to the first cache, but only the first of them reaches memory.
    .include "fact.inc"
    .text
    .balign 128
    begin
    nops 45
    finish
