/* Entry point, and entry and exit of the interrupt handler. At start a2 holds the address of the sampler's memory. The
 * stack lies below stack_top, in the firmware's own page; mscratch holds its top while the program runs, and the word
 * there holds the address of the sampler's memory. */
#define SAVED 128

        .macro each_saved op
        \op     ra, 0(sp)
        \op     t0, 8(sp)
        \op     t1, 16(sp)
        \op     t2, 24(sp)
        \op     t3, 32(sp)
        \op     t4, 40(sp)
        \op     t5, 48(sp)
        \op     t6, 56(sp)
        \op     a0, 64(sp)
        \op     a1, 72(sp)
        \op     a2, 80(sp)
        \op     a3, 88(sp)
        \op     a4, 96(sp)
        \op     a5, 104(sp)
        \op     a6, 112(sp)
        \op     a7, 120(sp)
        .endm

        .section .text.start, "ax"
        .globl  _start
_start:
        la      sp, stack_top
        csrw    mscratch, sp
        la      t0, interrupt
        csrw    mtvec, t0
        sd      a2, 0(sp)
        mv      a0, a2
        call    firmware_start
        mret

        .balign 64
interrupt:
        csrrw   sp, mscratch, sp
        addi    sp, sp, -SAVED
        each_saved sd
        ld      a0, SAVED(sp)
        call    firmware_interrupt
        each_saved ld
        addi    sp, sp, SAVED
        csrrw   sp, mscratch, sp
        mret

        .bss
        .balign 64
        .skip   2048
stack_top:
        .skip   64 /* address of the sampler's memory */
