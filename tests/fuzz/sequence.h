/* One random instruction sequence: what it starts from and what it does.
 *
 * A sequence is a list of units, a unit one or a few instructions that only make sense together (an address and the
 * access to it, lr and sc, a call and its return). Control enters a unit only at its first instruction and moves
 * forward from unit to unit, apart from loops, whose counter no other instruction writes. So every sequence ends.
 *
 * Some registers are protected, no unit writes them: the two of the harness, pointers into the scratch memory, and
 * the loop counter. Which ones, a sequence draws anew, so that all registers play all parts. */
#ifndef CYCLESCOPE_FUZZ_SEQUENCE_H
#define CYCLESCOPE_FUZZ_SEQUENCE_H

#include "encode.h"

enum {
    SCRATCH_BYTES = 512,
    UNIT_STEPS = 8,
    SEQUENCE_UNITS = 128,
    POINTERS = 4,
};

struct step {
    struct insn insn;
    int target;     /* unit that the immediate leads to, or -1 */
    unsigned from;  /* the step of this unit that the distance is taken from */
    int32_t addend; /* added to that distance */
};

struct unit {
    struct step step[UNIT_STEPS];
    unsigned count;
    unsigned loop;   /* number of the loop whose body or end it is, or 0 */
    unsigned starts; /* number of the loop whose counter it sets, or 0 */
    bool dropped;    /* left out by the shrinker */
    uint32_t offset; /* bytes from the sequence's first instruction */
};

/* The registers and the memory that a sequence starts from, and what the harness writes at its end. */
struct record {
    uint64_t number; /* of the sequence, counted from 1 */
    uint64_t x[32];
    uint64_t f[32];
    uint64_t fcsr;
    uint8_t scratch[SCRATCH_BYTES];
};

struct fuzzer {
    struct encoder encoder;
    enum insn_id rows[INSN_COUNT]; /* that sequences are made of */
    unsigned row_count;
    unsigned base_count;            /* the first of them: the base integer instructions and their compressed forms */
    uint64_t generated[INSN_COUNT]; /* instructions of each row that were generated */
    uint64_t seed;
    uint64_t scratch;            /* address of the scratch memory */
    unsigned base_reg, link_reg; /* the harness's registers */
};

struct sequence {
    struct fuzzer *fuzzer;
    struct random random;
    struct unit unit[SEQUENCE_UNITS];
    unsigned count, steps;
    uint32_t protected_regs; /* bit mask of integer registers */
    struct pointer {
        unsigned reg;
        int offset; /* from the start of the scratch memory; it may point outside */
    } pointer[POINTERS];
    unsigned pointers;
    unsigned counter;           /* register that counts loops */
    unsigned loops;             /* how many there are */
    uint8_t hot_x[8], hot_f[8]; /* registers that most operands are taken from, so that results are used */
    uint8_t last_x, last_f;     /* registers that the last unit wrote */
    struct record input;
};

/* Draws the sequence with this number, which depends on the fuzzer's seed and its rows only. */
void sequence_draw(struct sequence *s, struct fuzzer *fuzzer, uint64_t number);

/* Leaves a unit out, and with the start of a loop its end. */
void sequence_drop(struct sequence *s, unsigned unit);

/* Lays the units out and resolves their targets; returns the length in bytes. */
uint32_t sequence_resolve(struct sequence *s);

/* Appends a unit of the given row, if one can be made with the sequence's registers. (units.c) */
bool unit_draw(struct sequence *s, enum insn_id row);
void unit_draw_call(struct sequence *s);
void unit_draw_loop_start(struct sequence *s);
void unit_draw_loop_end(struct sequence *s, unsigned body);

#endif
