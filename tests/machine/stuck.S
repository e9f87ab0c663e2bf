# Never comes to the program.
    .option norvc
    .globl _start
_start:
    STUCK
