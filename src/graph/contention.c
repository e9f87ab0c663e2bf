#include "graph/contention.h"

/* A field that is full when `limit` more have been added to it; 0 if it never is. */
static uint64_t room_for(unsigned limit, unsigned full)
{
    return limit < full ? full - limit : 0;
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
    for (unsigned k = 0; k < CLASS_COUNT; k++) {
        const struct class_timing *t = &c->timing[k];
        struct contention_need *n = &l->need[k];
        n->unit = field_of_slot(t->pool, 1);
        n->issue = n->unit | field_of_slot(FIELD_ISSUE, 1);
        if (k == CLASS_LOAD && c->ports)
            n->issue |= field_of_slot(FIELD_PORTS, 1);
        n->full = n->issue * FIELD_FULL;
        n->queue = field_of_queues(t->queue, 1) | field_of_queues(QUEUES, 1);
        n->queue_full = n->queue * QUEUE_FULL;
        n->queue_number = t->queue;
        n->interval = t->interval;
    }
}

/* The number of misses outstanding in a cycle; *first is the one of them that ends first. */
static unsigned outstanding(const struct misses *m, uint64_t cycle, const struct miss **first)
{
    unsigned count = 0;
    for (unsigned i = 0; i < m->count; i++) {
        const struct miss *o = &m->of[i];
        if (o->begin > cycle || o->end <= cycle)
            continue;
        if (count++ == 0 || o->end < (*first)->end)
            *first = o;
    }
    return count;
}

unsigned contention_await_mshr(const struct contention *c, unsigned mshrs, uint64_t when, uint32_t arrival)
{
    unsigned distance = 0;
    const struct miss *first = NULL;
    if (c->misses.count < mshrs)
        return 0;
    while (outstanding(&c->misses, when, &first) >= mshrs) {
        when = first->end;
        distance = arrival - first->arrival;
    }
    return distance;
}

bool contention_mshr_free(const struct contention *c, unsigned mshrs, uint64_t when)
{
    const struct miss *first = NULL;
    return c->misses.count < mshrs || outstanding(&c->misses, when, &first) < mshrs;
}

/* Forgets misses that have ended in this cycle, before which no miss begins any more. */
static void forget_misses(struct misses *m, uint64_t cycle)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < m->count; i++)
        if (m->of[i].end > cycle)
            m->of[kept++] = m->of[i];
    m->count = kept;
}

static struct miss *first_to_end(struct misses *m)
{
    struct miss *first = m->of;
    for (struct miss *o = m->of; o < m->of + m->count; o++)
        if (o->end < first->end)
            first = o;
    return first;
}

void contention_add_miss(struct contention *c, unsigned mshrs, uint64_t dispatched, uint64_t begin, uint64_t end,
                         uint32_t arrival)
{
    struct misses *m = &c->misses;
    if (m->count + 1 >= mshrs || m->count == MISSES)
        forget_misses(m, dispatched);
    struct miss *to = m->count < MISSES ? &m->of[m->count++] : first_to_end(m);
    *to = (struct miss){begin, end, arrival};
}

void contention_init(struct contention *c, const struct contention_limits *l)
{
    *c = (struct contention){.queues = l->empty_queues};
    for (unsigned i = 0; i < CONTENTION_CYCLES; i++)
        c->slot[i] = l->empty_slot;
}
