#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect events.l1d_misses == 6
#: expect events.l2d_misses == 6
#: expect events.dtlb_misses == 8
#: expect events.l1d_primary_misses == 4
#: expect events.l2d_primary_misses == 3
#: expect events.dtlb_walks == 1
#: expect stack.naive.l1d == 4 * 9
#: expect stack.naive.l2d == 3 * 250
#: expect stack.naive.dtlb == 30
#: expect stack.naive_nonspec.l1d == 4 * 9
#: expect stack.naive_nonspec.l2d == 3 * 250
#: expect stack.naive_nonspec.dtlb == 30
#: run l1d.allocate=no
#: expect events.l1d_primary_misses == 4
#: expect stack.naive.l1d == 4 * 9
#: expect stack.naive.l2d == 3 * 250
#: run l3.size=4M
#: expect stack.naive.l1d == 4 * 9
#: expect stack.naive.l2d == 3 * (30 + 250)
#: run l2.size=0
#: expect stack.naive.l1d == 0
#: expect stack.naive.l2d == 4 * 250
#
# All accesses wait for one page walk, which the first one begins. Then five loads read one line of 64 bytes of the
# second cache, four of them one line of 32 bytes of the first: the first cache requests two lines, and memory is read
# once, for what the first load asks. Two stores write two more lines, of which one is also loaded. Each line counts
# once, whether a load or a store asks for it first, and whether or not the store's line comes to the first cache.
# Without a second cache, all four lines of the first come from memory.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    ld a2, 8(a1)
    ld a2, 16(a1)
    ld a2, 24(a1)
    ld a2, 32(a1)
    ld a2, 136(a1)
    sd x0, 128(a1)
    sd x0, 192(a1)
    finish
