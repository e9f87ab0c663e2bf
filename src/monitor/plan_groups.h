/* Which events share a group, so that there are as few groups as can be: the part of planning that is a search.
 *
 * Events that must be in one group are a party; most are alone in theirs. Were all of them alone, this would be a
 * matching: of events and one clock per group with the counters of all groups. Larger parties make it a packing. So the
 * search decides for these only, one after the other, and at every step a matching says whether all events that are
 * left could find room if they were alone. It tries numbers of groups from the least that bounds allow on, so the first
 * that works is the least. */
#ifndef CYCLESCOPE_MONITOR_PLAN_GROUPS_H
#define CYCLESCOPE_MONITOR_PLAN_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GROUPING_COUNTERS = 32, GROUPING_BUDGET = 600000, NO_PARTY = UINT32_MAX };

struct grouping {
    uint32_t parties;
    const uint32_t *first; /* event of each party, and one more: where they end */
    const uint32_t *can;   /* of each event: counters that can count it, a bit for each */
    const uint32_t *share; /* of each party: a group has the largest of its parties' */
    uint32_t clock;        /* counters that can count the clock */
    uint64_t budget;       /* steps of search for each number of groups */
    /* The answer: */
    uint32_t *group; /* of each party; the first group is that of the first party, and so on */
    uint32_t groups; /* 0 without parties */
    bool least;      /* no fewer groups hold all; false if the budget was spent */
};

/* Finds groups for parties each of which would fit into one of its own. 0 or -ENOMEM. */
int grouping_find(struct grouping *g) __attribute__((warn_unused_result));

/* ---- the parts of it that need no search */

/* Finds counters for events that are counted together, and for their clock: true if there are. `counter` has count + 1
 * elements, the last being the clock's, or is NULL. */
bool counters_match(const uint32_t *can, size_t count, uint32_t clock, uint32_t *counter);
/* Whether group `a` without one party and with another finds counters; both may be NO_PARTY. */
bool grouping_fits(const struct grouping *g, uint32_t a, uint32_t without, uint32_t with);
/* What the number of groups is at least. Spoils `group`. */
uint32_t grouping_bound(struct grouping *g);
/* Each party to the first group that has room, large ones first: not always the fewest groups. */
void grouping_first_fit(struct grouping *g);
/* Moves and exchanges parties as long as that lessens the sum of shares or, without adding to it, makes sizes more
 * even. If no parties and no shares are larger than 1, sizes differ by 1 at most then. */
void grouping_even(struct grouping *g);

#endif
