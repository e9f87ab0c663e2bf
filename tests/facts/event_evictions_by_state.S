#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes l1d.size=32 l1d.ways=1 l2.size=64 l2.ways=1 l3.size=128
#: set l3.ways=1 memory.bytes_per_cycle=16
#: counter l1d l1d_evictions
#: counter l1d_clean l1d_evictions:clean
#: counter l1d_dirty l1d_evictions:dirty
#: counter l2 l2_evictions
#: counter l2_clean l2_evictions:clean
#: counter l2_dirty l2_evictions:dirty
#: counter l3 l3_evictions
#: counter l3_clean l3_evictions:clean
#: counter l3_dirty l3_evictions:dirty
#: counter writebacks writebacks
#: counter wrote_l1d writebacks:l1d
#: counter wrote_l2 writebacks:l2
#: counter wrote_l3 writebacks:l3
#: counter bus bus_transactions
#: counter reads bus_transactions:read
#: counter writes bus_transactions:write
#: counter busy bus_busy_cycles
#: expect counter.l1d == 6 + 3
#: expect counter.l1d_clean == 6
#: expect counter.l1d_dirty == 3
#: expect counter.l2 == 5 + 2
#: expect counter.l2_clean == 5
#: expect counter.l2_dirty == 2
#: expect counter.l3 == 4 + 1
#: expect counter.l3_clean == 4
#: expect counter.l3_dirty == 1
#: expect counter.writebacks == 3 + 2 + 1
#: expect counter.wrote_l1d == 3
#: expect counter.wrote_l2 == 2
#: expect counter.wrote_l3 == 1
#: expect counter.bus == 6 * 8 + 8
#: expect counter.reads == 6 * 8
#: expect counter.writes == 8
#: expect counter.busy == 7 * 4
#
# The first data cache has one line, of 32 bytes, the second one of 64, the third two of 64: one for even and one for
# odd multiples of 64. What each access displaces, from the second cache on, from the first (if dirty it goes to the
# second, and displaces what is there, if that is another line), and in the third:
# 0: nothing, as all is empty. Then it is written. 64: the second's clean 0, the first's dirty 0, and by that the
# second's clean 64. 128: the third's clean 0, the second's dirty 0, by that the third's clean 128, and the first's
# clean 64. 256: the third's dirty 0, which goes to memory, the second's clean 128, the first's clean 128. 320: the
# third's clean 64, the second's clean 256, the first's clean 256. Then it is written. 352, which the second has: the
# first's dirty 320. Then it is written. 320: the first's dirty 352. 0: the third's clean 256, the second's dirty 320
# line, which the third has, the first's clean 320. 32: the first's clean 0. 320, which the third has: the second's
# clean 0, the first's clean 32.
# Six lines come from memory, one goes there: each is eight transactions of 8 bytes, and takes four cycles at 16 bytes a
# cycle.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    fence
    sd a2, 0(a1)
    fence
    ld a2, 64(a1)
    fence
    ld a2, 128(a1)
    fence
    ld a2, 256(a1)
    fence
    ld a2, 320(a1)
    fence
    sd a2, 320(a1)
    fence
    ld a2, 352(a1)
    fence
    sd a2, 352(a1)
    fence
    ld a2, 320(a1)
    fence
    ld a2, 0(a1)
    fence
    ld a2, 32(a1)
    fence
    ld a2, 320(a1)
    finish
