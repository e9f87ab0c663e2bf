/* Branch target buffer: where taken branches went, by pc. Set-associative, LRU, tagged by the full pc.
 *
 * Looking up changes nothing, so that wrong paths do not either; a taken branch that retires becomes the youngest of
 * its set. Invariant: a set is sorted by age, the youngest first, empty places last. */
#ifndef CYCLESCOPE_BRANCH_BTB_H
#define CYCLESCOPE_BRANCH_BTB_H

#include <stdbool.h>
#include <stdint.h>

struct btb_entry {
    uint64_t tag; /* pc + 1; 0: empty */
    uint64_t target;
};

struct btb {
    struct btb_entry *entries; /* NULL: there is no BTB */
    uint64_t set_mask;         /* number of sets less one */
    unsigned ways;
};

/* `entries` is 0, or `ways` times a power of two. False: out of memory. */
bool btb_init(struct btb *b, unsigned entries, unsigned ways);
void btb_free(struct btb *b);
/* Whether the branch is known, and where it went last. */
bool btb_find(const struct btb *b, uint64_t pc, uint64_t *target);
void btb_learn(struct btb *b, uint64_t pc, uint64_t target);

#endif
