#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes branch.btb_entries=0
#: counter all loads
#: counter byte loads:byte
#: counter half loads:mask=half
#: counter word loads:word
#: counter double loads:double
#: counter small loads:byte|half
#: counter forwarded load_sources:store
#: counter memory load_sources:memory
#: counter cache load_sources:l1
#: counter conditional branches:conditional
#: counter jump branches:jump
#: counter call branches:call
#: counter ret branches:return
#: counter indirect branches:indirect
#: counter taken conditional_branches:taken
#: counter not_taken conditional_branches:not_taken
#: counter lr atomics:lr
#: counter sc atomics:sc
#: counter amo atomics:amo
#: expect counter.all == 1 + 2 + 5 + 4
#: expect counter.byte == 1
#: expect counter.half == 2
#: expect counter.word == 2 + 3
#: expect counter.double == 4
#: expect counter.small == 3
#: expect counter.forwarded == 1
#: expect counter.memory == 1
#: expect counter.cache + counter.memory + counter.forwarded == counter.all
#: expect counter.conditional == 3
#: expect counter.jump == 1
#: expect counter.call == 1
#: expect counter.ret == 1
#: expect counter.indirect == 1
#: expect counter.taken == 2
#: expect counter.not_taken == 1
#: expect counter.lr == 1
#: expect counter.sc == 1
#: expect counter.amo == 1
#
# One line is loaded from memory; a long chain of divisions later all loads find it, but for one that an older store
# serves. The three atomics are loads of a word, each. Every control transfer is executed once.
    .include "fact.inc"
    begin
    la a1, area
    li a2, 2
    ld a3, 0(a1)
    .rept 16
    div a3, a3, a2
    .endr
    add a1, a1, a3
    lbu a4, 0(a1)
    lh a4, 2(a1)
    lhu a4, 2(a1)
    lw a4, 4(a1)
    lwu a4, 4(a1)
    ld a4, 8(a1)
    ld a4, 16(a1)
    sd a2, 16(a1)
    ld a4, 16(a1)
    lr.w a4, (a1)
    sc.w a5, a4, (a1)
    amoadd.w a4, a2, (a1)
    beqz a2, 3f
    bnez a2, 2f
    nop
2:  j 3f
    nop
3:  jal ra, function
    la a5, 4f
    jr a5
    nop
4:  beqz zero, 5f
    nop
5:  finish
function:
    ret
