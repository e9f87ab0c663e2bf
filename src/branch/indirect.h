/* Predictor of indirect targets that depend on the path to the jump: a table indexed by pc and path (the target cache
 * of Chang, Hao and Patt 1997, filtered as by Driesen and Hoelzle 1998).
 *
 * The path is the last four targets of indirect jumps and calls, 16 bits of each. Returns and direct branches do not
 * change it. An entry is tagged by pc and path. A jump gets an entry only after a misprediction, so jumps with a single
 * target stay in the BTB. A lookup changes nothing. */
#ifndef CYCLESCOPE_BRANCH_INDIRECT_H
#define CYCLESCOPE_BRANCH_INDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct indirect_entry {
    uint64_t tag; /* hash of pc and path, never 0; 0: empty */
    uint64_t target;
    uint8_t trust; /* 0 to 3: mispredictions and conflicting jumps that the entry survives */
};

struct indirect {
    struct indirect_entry *entries; /* NULL: no table */
    unsigned shift;                 /* shift from the hash to the index */
};

/* Makes a table of 2^bits entries; 0 bits: no table. Returns false if out of memory. */
bool indirect_init(struct indirect *t, unsigned bits);
void indirect_free(struct indirect *t);
/* Returns whether the table knows the target. *index is the entry of this jump and path, or UINT32_MAX without a
 * table. */
bool indirect_find(const struct indirect *t, uint64_t pc, uint64_t path, uint32_t *index, uint64_t *target);
/* Trains with a retired jump that went to `target`. `index` is from indirect_find. */
void indirect_learn(struct indirect *t, uint32_t index, uint64_t pc, uint64_t path, uint64_t target, bool mispredicted);

static inline uint64_t indirect_path(uint64_t path, uint64_t target)
{
    return path << 16 | (target >> 1 & 0xffff);
}

#endif
