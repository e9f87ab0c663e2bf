#include "graph/contention.h"

#include <string.h>

/* A field that is full when `limit` more have been added to it; 0 if it never is. */
static uint64_t room_for(unsigned limit, unsigned full)
{
    return limit < full ? full - limit : 0;
}

/* One use of a resource with this limit. Those without limit are not counted. */
static uint64_t use_of(unsigned field, unsigned limit)
{
    return limit < FIELD_FULL ? field_of_slot(field, 1) : 0;
}

void contention_limits_init(struct contention_limits *l, const struct graph_core *c)
{
    *l = (struct contention_limits){0};
    for (unsigned p = 0; p < POOLS; p++)
        l->empty_slot |= field_of_slot(p, room_for(c->units[p], FIELD_FULL));
    l->empty_slot |= field_of_slot(FIELD_ISSUE, room_for(c->issue_width, FIELD_FULL));
    l->empty_slot |= field_of_slot(FIELD_PORTS, room_for(c->ports, FIELD_FULL));
    for (unsigned q = 0; q < QUEUES; q++)
        l->empty_queues |= field_of_queues(q, room_for(c->queue_size[q], QUEUE_FULL));
    l->empty_queues |= field_of_queues(QUEUES, room_for(c->iq_size, QUEUE_FULL));
    l->has_queues = l->empty_queues != 0;
    l->has_total = c->iq_size < QUEUE_FULL;
    for (unsigned k = 0; k < CLASS_COUNT; k++) {
        const struct class_timing *t = &c->timing[k];
        struct contention_need *n = &l->need[k];
        n->unit = use_of(t->pool, c->units[t->pool]);
        n->issue = n->unit | use_of(FIELD_ISSUE, c->issue_width);
        if (k == CLASS_LOAD && c->ports)
            n->issue |= use_of(FIELD_PORTS, c->ports);
        n->full = n->issue * FIELD_FULL;
        n->queue = field_of_queues(t->queue, 1) | field_of_queues(QUEUES, 1);
        n->queue_full = n->queue * QUEUE_FULL;
        n->queue_number = t->queue;
        n->interval = t->interval;
    }
}

/* ---- MSHRs */

uint64_t contention_mshr_free(const struct contention *c, unsigned mshrs, uint64_t when)
{
    const struct misses *m = &c->misses;
    if (mshrs > MSHRS_MOST || when < m->first)
        return when;
    while (when - m->first < MSHR_CYCLES && m->used[when % MSHR_CYCLES] >= mshrs)
        when++;
    return when;
}

/* The first cycle after `when` in which a miss ends. */
static uint64_t next_end(const struct misses *m, uint64_t when)
{
    do
        when++;
    while (when - m->first < MSHR_CYCLES && !m->ends[when % MSHR_CYCLES]);
    return when;
}

struct contention_wait contention_retry(struct contention *c, const struct contention_limits *l,
                                        const struct contention_need *n, unsigned mshrs, uint64_t when,
                                        uint32_t arrival)
{
    const struct misses *m = &c->misses;
    uint64_t at = when, end = when;
    while (contention_mshr_free(c, mshrs, at) > at) {
        end = next_end(m, at);
        at = contention_issue(c, l, n, end);
    }
    unsigned distance = (uint16_t)(arrival - m->freed_by[end % MSHR_CYCLES]);
    if (at == when || distance >= GRAPH_ARRIVALS)
        return (struct contention_wait){0};
    return (struct contention_wait){.distance = distance, .delay = (unsigned)(at - end)};
}

/* Elements of a table that are consecutive in memory, of the cycles from `begin` to `end`: returns how many, from the
 * first one on. */
static uint64_t consecutive(uint64_t begin, uint64_t end)
{
    uint64_t left = MSHR_CYCLES - begin % MSHR_CYCLES;
    return end - begin < left ? end - begin : left;
}

static void clear(struct misses *m, uint64_t begin, uint64_t end)
{
    for (uint64_t n; begin < end; begin += n) {
        n = consecutive(begin, end);
        memset(&m->used[begin % MSHR_CYCLES], 0, n);
        memset(&m->ends[begin % MSHR_CYCLES], 0, n);
    }
}

/* Takes an MSHR, if one is free, from cycle `begin` to the cycle before `end`. */
static void take(struct misses *m, uint8_t mshrs, uint64_t begin, uint64_t end)
{
    for (uint64_t n; begin < end; begin += n) {
        uint8_t *used = &m->used[begin % MSHR_CYCLES];
        n = consecutive(begin, end);
        for (uint64_t k = 0; k < n; k++)
            used[k] = (uint8_t)(used[k] + (used[k] < mshrs));
    }
}

/* Lets the table end at cycle `end` or later. */
static void extend(struct misses *m, uint64_t end)
{
    if (end - m->first <= MSHR_CYCLES)
        return;
    uint64_t first = end - MSHR_CYCLES;
    if (first - m->first >= MSHR_CYCLES)
        m->first = first - MSHR_CYCLES;
    clear(m, m->first, first);
    m->first = first;
}

struct contention_wait contention_await_mshr(const struct contention *c, unsigned mshrs, uint64_t when,
                                             uint32_t arrival)
{
    uint64_t free = contention_mshr_free(c, mshrs, when);
    unsigned distance = (uint16_t)(arrival - c->misses.freed_by[free % MSHR_CYCLES]);
    return (struct contention_wait){.distance = free > when && distance < GRAPH_ARRIVALS ? distance : 0};
}

void contention_add_miss(struct contention *c, unsigned mshrs, uint64_t begin, uint64_t end, uint32_t arrival)
{
    struct misses *m = &c->misses;
    if (mshrs > MSHRS_MOST)
        return;
    extend(m, end + 1);
    take(m, (uint8_t)mshrs, begin > m->first ? begin : m->first, end);
    m->freed_by[end % MSHR_CYCLES] = (uint16_t)arrival;
    m->ends[end % MSHR_CYCLES] += m->ends[end % MSHR_CYCLES] < UINT8_MAX;
}

void contention_init(struct contention *c, const struct contention_limits *l)
{
    *c = (struct contention){.queues = l->empty_queues};
    for (unsigned i = 0; i < CONTENTION_CYCLES; i++)
        c->slot[i] = l->empty_slot;
}
