/* Targets of indirect jumps that depend on how the program got there: a table by pc and path (the target cache of
 * Chang, Hao and Patt 1997, filtered as by Driesen and Hoelzle 1998).
 *
 * The path is the last four targets of indirect jumps and calls, 16 bits of each; returns and direct branches leave it
 * as it is. An entry is tagged by pc and path. A jump takes a place only after it was mispredicted, so that jumps of
 * one target stay in the BTB. Looking up changes nothing. */
#ifndef CYCLESCOPE_BRANCH_INDIRECT_H
#define CYCLESCOPE_BRANCH_INDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct indirect_entry {
    uint64_t tag; /* hash of pc and path, never 0; 0: empty */
    uint64_t target;
    uint8_t trust; /* 0 to 3: how many wrong or foreign jumps it withstands */
};

struct indirect {
    struct indirect_entry *entries; /* NULL: there is no table */
    unsigned shift;                 /* from the hash to the index */
};

/* False: out of memory. */
bool indirect_init(struct indirect *t, unsigned bits);
void indirect_free(struct indirect *t);
/* Whether the target is known. *index: where the jump belongs; UINT32_MAX if there is no table. */
bool indirect_find(const struct indirect *t, uint64_t pc, uint64_t path, uint32_t *index, uint64_t *target);
/* The jump that belongs at `index` went to `target`. */
void indirect_learn(struct indirect *t, uint32_t index, uint64_t pc, uint64_t path, uint64_t target, bool mispredicted);

static inline uint64_t indirect_path(uint64_t path, uint64_t target)
{
    return path << 16 | (target >> 1 & 0xffff);
}

#endif
