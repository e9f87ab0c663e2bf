#: set perfect.l1i=yes perfect.itlb=yes branch.predictor=static branch.btb_entries=0
#: expect complete(wrong.inner) < complete(outer)
#: expect count(wrong.nested) == 1
#: expect count(wrong.gone) == 0
#: expect events.mispredictions_spec == 2
#
# The outer branch waits for memory. Its wrong path stores one byte of a word, and a wrong path of that stores the next.
# When the inner branch has resolved, the second byte is what memory has: the last branch goes as predicted.
    .include "fact.inc"
    begin
    li a2, 1
    la a1, area
    li a0, 0x101
    sh a0, 0(a1)
    la a4, area + 8192
    ld a3, 0(a4)
outer: beqz a3, right       # forward: predicted as not taken
    sb zero, 0(a1)
    mul a5, a2, a2
inner: bnez a5, next
nested: sb zero, 1(a1)
    nops 30
next: lbu a6, 1(a1)
    beqz a6, gone
    nops 60
    ebreak
gone: nop
    ebreak
right: nop
    finish
