#include "sampler/plan_narrow.h"

#include <stdlib.h>
#include <string.h>

/* ---- choice of places */

/* Whether this set of counters is a place already. */
static bool knows(const struct narrow *n, uint32_t counters)
{
    for (uint32_t i = 0; i < n->places; i++)
        if (n->place[i].counters == counters)
            return true;
    return false;
}

static void add_place(struct narrow *n, const struct grouping *g, uint32_t counters)
{
    if (n->places == NARROW_MOST || knows(n, counters))
        return;
    uint32_t room = (uint32_t)__builtin_popcount(counters);
    room -= (g->clock & ~counters) == 0;
    n->place[n->places++] = (struct narrow_place){.counters = counters, .room = room};
}

/* Candidates in this order, up to NARROW_MOST: all counters, the counters of each event, unions of two of these. */
static void choose_places(struct narrow *n, const struct grouping *g)
{
    uint32_t all = g->clock, events = g->first[g->parties];
    for (uint32_t i = 0; i < events; i++)
        all |= g->can[i];
    add_place(n, g, all);
    for (uint32_t i = 0; i < events; i++)
        add_place(n, g, g->can[i]);
    for (uint32_t i = 1; i < n->places; i++)
        for (uint32_t j = 1; j < i; j++)
            add_place(n, g, n->place[i].counters | n->place[j].counters);
}

/* ---- sizes */

/* Number of a party's events that only these counters can count. */
static uint32_t needs(const struct grouping *g, uint32_t party, uint32_t counters)
{
    uint32_t count = 0;
    for (uint32_t i = g->first[party]; i < g->first[party + 1]; i++)
        count += (g->can[i] & ~counters) == 0;
    return count;
}

/* Computes size, rest and sums, from the last party to the first. */
static void fill_place(struct narrow *n, struct narrow_place *p, const struct grouping *g, const uint32_t *party)
{
    uint32_t singles = 0;
    for (uint32_t i = 0; i < g->parties; i++)
        if (g->first[i + 1] - g->first[i] == 1)
            singles += needs(g, i, p->counters);
    p->rest[n->parties] = singles;
    p->sums[n->parties] = singles < 63 ? (UINT64_C(2) << singles) - 1 : UINT64_MAX;
    for (uint32_t i = n->parties; i-- > 0;) {
        uint32_t size = needs(g, party[i], p->counters);
        p->size[i] = (uint8_t)size;
        p->rest[i] = p->rest[i + 1] + size;
        p->sums[i] = p->sums[i + 1] | p->sums[i + 1] << size;
    }
}

bool narrow_new(struct narrow *n, const struct grouping *g, const uint32_t *party, uint32_t parties, uint32_t groups)
{
    *n = (struct narrow){.parties = parties, .groups = groups};
    choose_places(n, g);
    size_t each = parties + 1, bytes = each * (sizeof(uint64_t) + sizeof(uint32_t) + 1) + groups;
    bytes = (bytes + 7) & ~(size_t)7;
    char *at = n->memory = calloc(n->places, bytes);
    if (!at)
        return false;
    for (uint32_t i = 0; i < n->places; i++, at += bytes) {
        struct narrow_place *p = &n->place[i];
        p->sums = (uint64_t *)at;
        p->rest = (uint32_t *)(p->sums + each);
        p->size = (uint8_t *)(p->rest + each);
        p->taken = p->size + each;
        fill_place(n, p, g, party);
    }
    return true;
}

void narrow_free(struct narrow *n)
{
    free(n->memory);
}

/* ---- state of the search */

void narrow_restart(struct narrow *n)
{
    for (uint32_t i = 0; i < n->places; i++)
        memset(n->place[i].taken, 0, n->groups);
}

void narrow_put(struct narrow *n, uint32_t party, uint32_t group)
{
    for (uint32_t i = 0; i < n->places; i++)
        n->place[i].taken[group] += n->place[i].size[party];
}

void narrow_remove(struct narrow *n, uint32_t party, uint32_t group)
{
    for (uint32_t i = 0; i < n->places; i++)
        n->place[i].taken[group] -= n->place[i].size[party];
}

/* For each place: sums up the most that each group can still take (the largest attainable sum within its free room),
 * and compares that with the events that remain. */
bool narrow_allows(const struct narrow *n, uint32_t party, uint32_t groups)
{
    for (uint32_t i = 0; i < n->places; i++) {
        const struct narrow_place *p = &n->place[i];
        uint64_t sums = p->sums[party];
        uint32_t most = 0;
        for (uint32_t j = 0; j < groups && most < p->rest[party]; j++) {
            uint64_t within = sums & ((UINT64_C(2) << (p->room - p->taken[j])) - 1);
            most += 63 - (uint32_t)__builtin_clzll(within);
        }
        if (most < p->rest[party])
            return false;
    }
    return true;
}
