/* Grouping without search: the counters of one group, lower bounds, a first solution and its improvement. */
#include "sampler/plan_groups.h"

enum { NO_GROUP = UINT32_MAX };

/* ---- counters of one group */

/* A matching of events with counters. */
struct match {
    const uint32_t *can;               /* by event: bit mask of its counters */
    uint32_t clock;                    /* bit mask of the clock's counters; the clock is event number `count` */
    size_t count;                      /* number of events */
    uint32_t used;                     /* bit mask of counters in use */
    uint32_t holds[GROUPING_COUNTERS]; /* by counter in use: its event */
};

/* Finds a counter for the event: a free one, or one with an event that can move to another counter (an augmenting
 * path). `tried` has the counters that were visited, which makes the recursion end. */
static bool match_one(struct match *m, size_t event, uint32_t *tried)
{
    uint32_t can = event == m->count ? m->clock : m->can[event], open = can & ~m->used;
    if (open) {
        unsigned counter = (unsigned)__builtin_ctz(open);
        m->used |= UINT32_C(1) << counter;
        m->holds[counter] = (uint32_t)event;
        return true;
    }
    while ((open = can & ~*tried) != 0) {
        unsigned counter = (unsigned)__builtin_ctz(open);
        *tried |= UINT32_C(1) << counter;
        if (match_one(m, m->holds[counter], tried)) {
            m->holds[counter] = (uint32_t)event;
            return true;
        }
    }
    return false;
}

bool counters_match(const uint32_t *can, size_t count, uint32_t clock, uint32_t *counter)
{
    struct match m = {.can = can, .clock = clock, .count = count};
    uint32_t tried = 0;
    bool found = count < GROUPING_COUNTERS && match_one(&m, count, &tried);
    for (size_t i = 0; found && i < count; i++) {
        tried = 0;
        found = match_one(&m, i, &tried);
    }
    for (uint32_t used = m.used; found && counter && used != 0; used &= used - 1) {
        unsigned i = (unsigned)__builtin_ctz(used);
        counter[m.holds[i]] = i;
    }
    return found;
}

/* Appends the counter masks of a party's events to `can`. False: more events than counters. */
static bool gather(const struct grouping *g, uint32_t party, uint32_t *can, size_t *count)
{
    for (uint32_t i = g->first[party]; i < g->first[party + 1]; i++) {
        if (*count == GROUPING_COUNTERS)
            return false;
        can[(*count)++] = g->can[i];
    }
    return true;
}

bool grouping_fits(const struct grouping *g, uint32_t a, uint32_t without, uint32_t with)
{
    uint32_t can[GROUPING_COUNTERS];
    size_t count = 0;
    for (uint32_t p = 0; p < g->parties; p++)
        if ((p == with || (g->group[p] == a && p != without)) && !gather(g, p, can, &count))
            return false;
    return counters_match(can, count, g->clock, NULL);
}

/* ---- bounds */

static uint32_t size_of(const struct grouping *g, uint32_t party)
{
    return g->first[party + 1] - g->first[party];
}

/* Whether two parties fit into one group. */
static bool fit_together(const struct grouping *g, uint32_t a, uint32_t b)
{
    uint32_t can[GROUPING_COUNTERS];
    size_t count = 0;
    return gather(g, a, can, &count) && gather(g, b, can, &count) && counters_match(can, count, g->clock, NULL);
}

/* Lower bound: size of a set of parties that conflict pairwise, so that each needs its own group. The set is
 * found greedily, large parties first, and need not be the largest. Marks its members in `group`. */
static uint32_t conflicting_parties(struct grouping *g)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < g->parties; p++)
        g->group[p] = NO_GROUP;
    for (uint32_t size = GROUPING_COUNTERS; size > 0; size--)
        for (uint32_t p = 0; p < g->parties; p++) {
            bool all = size_of(g, p) == size;
            for (uint32_t q = 0; all && q < g->parties; q++)
                all = g->group[q] == NO_GROUP || !fit_together(g, p, q);
            if (all)
                g->group[p] = count++;
        }
    return count;
}

/* Lower bound of bin packing by Martello and Toth, from sizes alone: parties larger than half a group are in different
 * groups; those of at least `small` events that do not fit beside these need more groups. `room` is the size of a
 * group. */
static uint32_t bound_by_size(const struct grouping *g, uint32_t room, uint32_t small)
{
    uint32_t alone = 0, large = 0, large_sum = 0, medium_sum = 0;
    for (uint32_t p = 0; p < g->parties; p++) {
        uint32_t size = size_of(g, p);
        if (size > room - small) {
            alone++;
        } else if (2 * size > room) {
            large++;
            large_sum += size;
        } else if (size >= small) {
            medium_sum += size;
        }
    }
    uint32_t left = large * room - large_sum;
    return alone + large + (medium_sum > left ? (medium_sum - left + room - 1) / room : 0);
}

uint32_t grouping_bound(struct grouping *g)
{
    uint32_t counters = g->clock, least = conflicting_parties(g);
    for (uint32_t i = 0; i < g->first[g->parties]; i++)
        counters |= g->can[i];
    uint32_t room = (uint32_t)__builtin_popcount(counters) - 1;
    for (uint32_t small = 0; 2 * small <= room; small++) {
        uint32_t bound = bound_by_size(g, room, small);
        least = bound > least ? bound : least;
    }
    return least;
}

/* ---- a first solution */

void grouping_first_fit(struct grouping *g)
{
    g->groups = 0;
    for (uint32_t p = 0; p < g->parties; p++)
        g->group[p] = NO_GROUP;
    for (uint32_t size = GROUPING_COUNTERS; size > 0; size--)
        for (uint32_t p = 0; p < g->parties; p++) {
            if (size_of(g, p) != size)
                continue;
            uint32_t i = 0;
            while (i < g->groups && !grouping_fits(g, i, NO_PARTY, p))
                i++;
            g->group[p] = i;
            g->groups += i == g->groups;
        }
}

/* ---- improvement */

/* The cost of groups: `shares` decides, then `squares`, which is smallest for groups of equal size. */
struct cost {
    uint64_t shares;  /* sum of shares */
    uint64_t squares; /* sum of squared sizes */
};

/* The cost of group `a` with party `without` removed and party `with` added. An empty group costs more than any other
 * can, so that no group vanishes. */
static struct cost cost_of(const struct grouping *g, uint32_t a, uint32_t without, uint32_t with)
{
    uint64_t share = 0, size = 0;
    for (uint32_t p = 0; p < g->parties; p++)
        if (p == with || (g->group[p] == a && p != without)) {
            share = g->share[p] > share ? g->share[p] : share;
            size += size_of(g, p);
        }
    return (struct cost){size > 0 ? share : UINT64_MAX / 4, size * size};
}

/* Whether it is possible and cheaper to move party p to group b, and party q of b (NO_PARTY: none) to the group of p.
 */
static bool is_better(const struct grouping *g, uint32_t p, uint32_t b, uint32_t q)
{
    uint32_t a = g->group[p];
    struct cost before = cost_of(g, a, NO_PARTY, NO_PARTY), before_b = cost_of(g, b, NO_PARTY, NO_PARTY);
    struct cost after = cost_of(g, a, p, q), after_b = cost_of(g, b, q, p);
    uint64_t shares = before.shares + before_b.shares, new_shares = after.shares + after_b.shares;
    if (new_shares > shares)
        return false;
    if (new_shares == shares && after.squares + after_b.squares >= before.squares + before_b.squares)
        return false;
    return grouping_fits(g, a, p, q) && grouping_fits(g, b, q, p);
}

/* Moves or swaps party p if that is cheaper. */
static bool improve_party(struct grouping *g, uint32_t p)
{
    uint32_t a = g->group[p];
    for (uint32_t b = 0; b < g->groups; b++)
        if (b != a && is_better(g, p, b, NO_PARTY)) {
            g->group[p] = b;
            return true;
        }
    for (uint32_t q = 0; q < g->parties; q++)
        if (g->group[q] != a && is_better(g, p, g->group[q], q)) {
            g->group[p] = g->group[q];
            g->group[q] = a;
            return true;
        }
    return false;
}

/* Each step reduces the cost, so this ends. */
void grouping_even(struct grouping *g)
{
    bool better = true;
    while (better) {
        better = false;
        for (uint32_t p = 0; p < g->parties; p++)
            better |= improve_party(g, p);
    }
}
