/* Branch target buffer: last targets of taken branches, by pc. Set-associative, LRU, tagged by the full pc.
 *
 * A lookup changes nothing, so wrong paths leave no trace. A taken branch that retires becomes the most recent entry of
 * its set. Invariant: a set is sorted by age, youngest first, empty entries last. */
#ifndef CYCLESCOPE_BRANCH_BTB_H
#define CYCLESCOPE_BRANCH_BTB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btb_entry {
    uint64_t tag; /* pc + 1; 0: empty */
    uint64_t target;
};

struct btb {
    struct btb_entry *entries; /* NULL: no BTB */
    uint64_t set_mask;         /* number of sets - 1 */
    unsigned ways;
};

/* `entries` is 0, or `ways` times a power of two. False: out of memory. */
bool btb_init(struct btb *b, unsigned entries, unsigned ways);
void btb_free(struct btb *b);
/* Returns whether the branch is in the BTB; *target is then its last target. */
bool btb_find(const struct btb *b, uint64_t pc, uint64_t *target);
void btb_learn_slow(struct btb *b, uint64_t pc, uint64_t target);

/* A branch retires. One condition of the host decides whether there is something to do: most taken branches are the
 * most recent entry of their set already. */
static inline void btb_learn(struct btb *b, uint64_t pc, bool taken, uint64_t target)
{
    if (b->entries == NULL)
        return;
    const struct btb_entry *first = &b->entries[(pc >> 1 & b->set_mask) * b->ways];
    if (taken & ((first->tag != pc + 1) | (first->target != target)))
        btb_learn_slow(b, pc, target);
}

#endif
