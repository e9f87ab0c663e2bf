/* What needs no search: counters of one group, bounds, a first solution, and its improvement. */
#include "monitor/plan_groups.h"

enum { NO_GROUP = UINT32_MAX };

/* ---- counters of one group */

struct match {
    const uint32_t *can;               /* of the events */
    uint32_t clock;                    /* of the clock, which is event number `count` */
    size_t count;                      /* events */
    uint32_t used;                     /* counters that are taken, a bit for each */
    uint32_t holds[GROUPING_COUNTERS]; /* event of a counter */
};

/* Finds a counter that is free, or one whose event finds another. `tried` keeps this from going round in circles. */
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

/* Adds what the events of a party can to a list; false if it is full. */
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

static bool get_along(const struct grouping *g, uint32_t a, uint32_t b)
{
    uint32_t can[GROUPING_COUNTERS];
    size_t count = 0;
    return gather(g, a, can, &count) && gather(g, b, can, &count) && counters_match(can, count, g->clock, NULL);
}

/* Parties no two of which get along need a group each. Takes large ones first, and is greedy: there may be more. Uses
 * `group` for those that it has. */
static uint32_t enemies(struct grouping *g)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < g->parties; p++)
        g->group[p] = NO_GROUP;
    for (uint32_t size = GROUPING_COUNTERS; size > 0; size--)
        for (uint32_t p = 0; p < g->parties; p++) {
            bool all = size_of(g, p) == size;
            for (uint32_t q = 0; all && q < g->parties; q++)
                all = g->group[q] == NO_GROUP || !get_along(g, p, q);
            if (all)
                g->group[p] = count++;
        }
    return count;
}

/* Groups that sizes alone ask for, by Martello and Toth: parties of more than half a group are in different ones, and
 * parties of less than `small` may be left out to see how much room the others leave. */
static uint32_t by_size(const struct grouping *g, uint32_t room, uint32_t small)
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
    uint32_t counters = g->clock, least = enemies(g);
    for (uint32_t i = 0; i < g->first[g->parties]; i++)
        counters |= g->can[i];
    uint32_t room = (uint32_t)__builtin_popcount(counters) - 1;
    for (uint32_t small = 0; 2 * small <= room; small++) {
        uint32_t bound = by_size(g, room, small);
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

/* What a plan should have little of, the first before the second. */
struct cost {
    uint64_t shares, squares; /* of groups; the squares are those of their sizes */
};

/* Of a group without one party and with another. One without any costs more than can be: groups are not to vanish. */
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

/* Whether it is better that party p is in group b and party q, which may be NO_PARTY, in p's, and can be. */
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

/* Each step lessens the cost, so this ends. */
void grouping_even(struct grouping *g)
{
    bool better = true;
    while (better) {
        better = false;
        for (uint32_t p = 0; p < g->parties; p++)
            better |= improve_party(g, p);
    }
}
