/* Assigns events to groups so that there are as few groups as possible: the part of planning that is a search.
 *
 * A party is a set of events that must be in one group; most parties have a single event. With single events alone, the
 * problem would be a bipartite matching: of the events and one clock per group with the counters of all groups. Larger
 * parties make it a packing problem. So the search decides about larger parties only, one after the other, and at every
 * step a matching checks whether all remaining events would find counters if they were single. The search tries
 * increasing numbers of groups, from a lower bound on, so the first number that works is the smallest. */
#ifndef CYCLESCOPE_SAMPLER_PLAN_GROUPS_H
#define CYCLESCOPE_SAMPLER_PLAN_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GROUPING_COUNTERS = 32,   /* most counters of a group */
    GROUPING_BUDGET = 600000, /* default of grouping.budget */
    NO_PARTY = UINT32_MAX
};

struct grouping {
    uint32_t parties;
    const uint32_t *first; /* index of each party's first event; element `parties` is the number of events */
    const uint32_t *can;   /* by event: bit mask of the counters that can count it */
    const uint32_t *share; /* by party: slots of a round; the share of a group is the largest of its parties */
    uint32_t clock;        /* bit mask of the counters that can count the slice clock */
    uint64_t budget;       /* search steps for each number of groups */
    /* Set by grouping_find: */
    uint32_t *group; /* by party, numbered by first appearance */
    uint32_t groups; /* number of groups; 0 without parties */
    bool least;      /* fewer groups are impossible; false if the budget ran out */
};

/* Finds the groups. Each party must fit into a group alone (counters_match). 0 or -ENOMEM. */
int grouping_find(struct grouping *g) __attribute__((warn_unused_result));

/* ---- parts of grouping_find that need no search (plan_even.c) */

/* Matches events that are counted together, and the slice clock, with counters. False: impossible. `counter` (NULL: not
 * wanted) receives count + 1 counters, the last one for the clock. */
bool counters_match(const uint32_t *can, size_t count, uint32_t clock, uint32_t *counter);
/* Whether group `a`, with party `without` removed and party `with` added, finds counters. Both may be NO_PARTY. */
bool grouping_fits(const struct grouping *g, uint32_t a, uint32_t without, uint32_t with);
/* A lower bound of the number of groups. Overwrites `group`. */
uint32_t grouping_bound(struct grouping *g);
/* Puts each party into the first group with room, large parties first. May use more groups than necessary. */
void grouping_first_fit(struct grouping *g);
/* Moves and swaps parties while that reduces the sum of shares or, with the same sum, makes the sizes of groups more
 * even. If all parties have one event and all shares are 1, sizes differ by at most 1 afterwards. */
void grouping_even(struct grouping *g);

#endif
