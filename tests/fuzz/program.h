/* The program that runs the sequences: a static RV64 Linux executable without libraries.
 *
 * For each sequence it loads all registers, fcsr and the scratch memory from an input record, runs the sequence, and
 * writes the same record as it is then to standard output, one write(2) each, so that a crash shows where it was.
 * It exits with status 0, or 1 if a write failed. */
#ifndef CYCLESCOPE_FUZZ_PROGRAM_H
#define CYCLESCOPE_FUZZ_PROGRAM_H

#include <stdio.h>

#include "sequence.h"

/* The scratch memory lies across the boundary of two pages, so that accesses do too. */
#define CODE_ADDRESS    UINT64_C(0x00010000)
#define DATA_ADDRESS    UINT64_C(0x20000000)
#define SCRATCH_ADDRESS (DATA_ADDRESS + 0x1000 - SCRATCH_BYTES / 2)
#define OUTPUT_ADDRESS  UINT64_C(0x20002000)
#define INPUT_ADDRESS   UINT64_C(0x20003000)

struct program {
    const struct encoder *encoder;
    unsigned base, link; /* registers that belong to the harness */
    struct bytes {
        uint8_t *at;
        size_t length, room;
    } code, input;
    uint32_t load, save; /* offsets of the routines in the code */
    uint32_t entry;      /* offset of the first sequence, which follows them */
    uint64_t first;      /* its number */
};

void program_begin(struct program *p, const struct fuzzer *fuzzer, uint64_t first);

/* Appends a resolved sequence; returns the address of its first instruction. */
uint64_t program_add(struct program *p, const struct sequence *s);

/* Writes the executable and frees the program; false if writing failed. */
bool program_end(struct program *p, FILE *to);

#endif
