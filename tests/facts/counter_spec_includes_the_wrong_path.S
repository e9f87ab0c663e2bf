#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.predictor=static branch.btb_entries=0
#: counter retired loads:retired
#: counter standard loads
#: counter all loads:spec
#: counter here loads:spec:ip=@early-@stop
#: counter here_retired loads:retired:ip=@early-@stop
#: counter missed l1d_misses:spec
#: counter missed_retired l1d_misses
#: counter stores stores:retired
#: counter stores_all stores:spec
#: counter squashed squashed:ip=@early-@right
#: expect count(wrong.early) == 1
#: expect count(wrong.second) == 1
#: expect counter.retired == 1
#: expect counter.standard == 1
#: expect counter.all == 3
#: expect counter.here == 2
#: expect counter.here_retired == 0
#: expect counter.missed == 3
#: expect counter.missed_retired == 1
#: expect counter.stores == 0
#: expect counter.stores_all == 1
#: expect counter.squashed == 3
#
# The branch waits for a quotient. Two loads and a store of the wrong path execute meanwhile; they miss like the one of
# the right path, which waits for their line.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 1
    div a3, a2, a2
    beq a3, a2, right
early: ld a4, 0(a1)
second: ld a4, 8(a1)
    sd a2, 16(a1)
stop: ecall                 # the wrong path ends here
right:
    ld a5, 0(a1)
    finish
