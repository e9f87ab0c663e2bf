#: set fetch.lines=1
#: set perfect.l1i=yes perfect.itlb=yes
#: run
#: expect fetch(b) - fetch(a) == 1
#: run fetch.lines=2
#: expect fetch(b) - fetch(a) == 0
#: run l1i.line=64
#: expect fetch(b) - fetch(a) == 0
#
# The program begins in the middle of a line of 32 bytes: four instructions are left of it, and fetch could bring eight.
# The others come a cycle later, or at once if a cycle's instructions may come from two lines, or if the line is longer.
    .include "fact.inc"
    .text
    .balign 64
    nops 4
    .globl _start
_start:
a:  nop
    nops 3
b:  nop
    finish
