/* The memory's part of a node: translations and lines of data, and stores that forward to loads. */
#include "graph/nodes_priv.h"

/* ---- stores that forward */

static uint32_t bucket_of(uint64_t addr)
{
    uint64_t granule = addr / 8;
    return (uint32_t)(granule ^ granule >> 12) % BUCKETS;
}

/* Adds a store to the lists of its first and its last byte. Loads from the middle of a store of 64 bytes do not find
 * it. */
static void list_store(struct node_builder *b, const struct held_insn *h)
{
    struct recent_store *s = &b->store[b->stores % GRAPH_STORES];
    *s = (struct recent_store){.addr = h->addr, .size = h->size};
    if (h->size == 0)
        return;
    for (unsigned i = 0; i < 2; i++) {
        s->bucket[i] = bucket_of(i ? h->addr + h->size - 1 : h->addr);
        s->older[i] = i && s->bucket[1] == s->bucket[0] ? NO_STORE : b->bucket[s->bucket[i]];
    }
    b->bucket[s->bucket[0]] = b->bucket[s->bucket[1]] = b->stores;
}

/* Returns the number of the youngest store in a list that overlaps these bytes and may still be in the queue. */
static uint32_t overlapping(const struct node_builder *b, uint32_t bucket, uint64_t addr, uint64_t end)
{
    uint32_t number = b->bucket[bucket];
    while (number != NO_STORE && b->stores - number < b->core.live_stores) {
        const struct recent_store *s = &b->store[number % GRAPH_STORES];
        if (s->addr < end && addr < s->addr + s->size)
            return number;
        number = s->older[s->bucket[0] == bucket ? 0 : 1];
    }
    return NO_STORE;
}

static void find_match(const struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    uint64_t end = h->addr + h->size;
    uint32_t first = bucket_of(h->addr), last = bucket_of(end - 1);
    uint32_t number = overlapping(b, first, h->addr, end), other;
    if (last != first && (other = overlapping(b, last, h->addr, end)) > number)
        number = other;
    if (number == NO_STORE)
        return;
    const struct recent_store *s = &b->store[number % GRAPH_STORES];
    n->match = (uint16_t)(b->stores - number + 1);
    if (s->addr <= h->addr && end <= s->addr + s->size)
        n->flags |= NODE_WHOLE;
}

/* ---- translations of data */

/* With real prediction, the cycles of the real run count, and with perfect prediction those of the level that has the
 * translation when nothing comes from wrong paths. A page that an instruction in the window has walked for is waited
 * for. `translation`: enum tlb_level. */
static void set_translation(struct node_builder *b, const struct held_insn *h, struct graph_node *n,
                            unsigned translation)
{
    uint64_t page = h->addr >> b->core.page_shift;
    struct page_entry *e = &b->page[page % PAGES];
    uint16_t real = h->access.translation_cycles, perfect = (uint16_t)b->core.translation[translation];
    if (e->page != page) {
        if (!(real | perfect))
            return;
        *e = (struct page_entry){.page = page};
    }
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        uint16_t cycles = v == PREDICTION_REAL ? real : perfect;
        bool recent =
            e->walk[v] && (uint32_t)b->insns - e->insn[v] < b->core.rob_size && b->walks - e->walk[v] < GRAPH_WALKS - 1;
        if (recent && (v == PREDICTION_REAL || !cycles)) {
            n->walk_distance[v] = (uint16_t)(b->walks - e->walk[v] + 1);
        } else if (cycles) {
            n->dtlb_cycles[v] = cycles;
            n->walks = true;
            e->walk[v] = b->walks + 1;
            e->insn[v] = (uint32_t)b->insns;
        }
    }
    b->walks += n->walks;
}

/* ---- lines */

/* The distance to the arrival with which the L2 gets a line that an access to the L1D misses; 0: it has the line, or it
 * is not known who brings it. `level` is where the line is with perfect prediction, and `a` how it was in the real run.
 */
static uint16_t second_distance(struct node_builder *b, const struct held_insn *h, const struct data_access *a,
                                unsigned v, unsigned level, const struct line_entry *e)
{
    bool waits = v == PREDICTION_REAL ? a->level > LEVEL_L2 && a->merged : level == LEVEL_L2;
    if (!waits || distance_to(e->arrival[v], b->arrivals, GRAPH_ARRIVALS))
        return 0;
    const struct line_entry *second = entry_of(b->second_line, h->addr >> b->second_shift);
    if (v == PREDICTION_REAL && (uint32_t)b->insns - second->insn >= b->core.rob_size)
        return 0;
    return distance_to(second->arrival[v], b->arrivals, GRAPH_ARRIVALS);
}

/* Sets how a load gets its line in one prediction: it requests the line, or it waits for an arrival. `level` is where
 * the line is if the load requests it. */
static void set_arrival(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned v,
                        unsigned level, const struct line_entry *e)
{
    const struct data_access *a = &h->access;
    bool requested = a->level > LEVEL_L1 && !a->merged, requests = v == PREDICTION_REAL ? requested : level > LEVEL_L1;
    n->second_distance[v] = second_distance(b, h, a, v, level, e);
    n->requests |= (uint8_t)((requests || n->second_distance[v]) << v);
    if (n->second_distance[v]) {
        n->load_cycles[v] = (uint16_t)b->core.latency[LEVEL_L2];
    } else if (requests) {
        bool same = requested && (v == PREDICTION_REAL || a->level == level);
        n->load_cycles[v] = same ? a->cycles : (uint16_t)b->core.latency[level];
    } else {
        n->arrival_distance[v] = distance_to(e->arrival[v], b->arrivals, GRAPH_ARRIVALS);
        /* No request that is known brings the line, or one that may be late: a prefetch. */
        if (a->merged && a->level > LEVEL_L1 && (!n->arrival_distance[v] || e->prefetched)) {
            n->load_cycles[v] = a->cycles;
            if (e->prefetched)
                n->late_distance = distance_to(e->arrival[PREDICTION_PERFECT], b->arrivals, GRAPH_ARRIVALS);
        }
    }
}

/* The last arrival in the L2 that lines wait for which an access made a prefetcher bring from there into the L1D. */
static uint32_t second_of_prefetches(struct node_builder *b)
{
    uint32_t last = 0;
    for (unsigned i = 0; i < b->prefetches; i++) {
        const struct prefetched_line *p = &b->prefetched[i];
        if (!p->data || p->into != LEVEL_L1 || p->level != LEVEL_L2)
            continue;
        uint32_t arrival = entry_of(b->second_line, p->addr >> b->second_shift)->arrival[PREDICTION_PERFECT];
        last = arrival > last ? arrival : last;
    }
    return last;
}

/* Prefetches from this level take as long as in the run, if that made some and they waited for the bus. */
static uint16_t prefetch_latency(const struct graph_core *c, unsigned level, unsigned really)
{
    return (uint16_t)(level == LEVEL_MEMORY && really > c->latency[level] ? really : c->latency[level]);
}

/* The lines that an access to data made prefetchers request come with one arrival in each cache. */
static void set_prefetches(struct node_builder *b, const struct data_access *a, struct graph_node *n)
{
    const struct graph_core *c = &b->core;
    if (b->prefetches == 0)
        return;
    for (unsigned i = 0; i < b->prefetches; i++)
        if (b->prefetched[i].data)
            second_alone_propose(&b->data_second, b->prefetched[i].addr, b->insns);
    unsigned second = nodes_add_prefetches(b, true, LEVEL_L2, b->second_shift, b->arrivals + 1, b->second_line);
    if (second > LEVEL_L1) {
        n->second_prefetch_cycles = prefetch_latency(c, second, a->prefetch_cycles[1]);
        b->arrivals++;
    }
    unsigned first = nodes_add_prefetches(b, true, LEVEL_L1, b->data_shift, b->arrivals + 2, b->line);
    if (first == LEVEL_L1)
        return;
    for (unsigned i = 0; i < b->prefetches && n->prefetch_lines < PREFETCH_LINES; i++)
        n->prefetch_lines += b->prefetched[i].data && b->prefetched[i].into == LEVEL_L1;
    n->prefetch_cycles = prefetch_latency(c, first, a->prefetch_cycles[0]);
    b->arrivals += 2;
    uint32_t arrival = second_of_prefetches(b);
    if (arrival && b->arrivals - arrival < GRAPH_ARRIVALS)
        n->prefetch_second_distance = (uint16_t)(b->arrivals - arrival);
}

/* The access gets a number among arrivals. `e` remembers it for those predictions in which it brings the line.
 * `level[v]`: where the line comes from if the access requests it. */
static void add_arrival(struct node_builder *b, uint64_t addr, struct graph_node *n, struct line_entry *e,
                        unsigned brings, const unsigned level[PREDICTIONS])
{
    n->arrives = brings != 0;
    b->arrivals += n->arrives;
    for (unsigned v = 0; v < PREDICTIONS; v++)
        if (brings >> v & 1)
            e->arrival[v] = b->arrivals;
    for (unsigned v = 0; v < PREDICTIONS; v++)
        if (n->requests >> v & 1 && !n->second_distance[v] && level[v] > LEVEL_L2) {
            struct line_entry *second = entry_of(b->second_line, addr >> b->second_shift);
            second->arrival[v] = b->arrivals;
            second->insn = (uint32_t)b->insns;
        }
    e->prefetched &= !(brings >> PREDICTION_PERFECT & 1);
}

/* Lines that come from beyond the L2 may be there if no instructions are. `a`: how the line was accessed in the real
 * run, `level`: where it is with perfect prediction. A line that is in the L2 then has been evicted by wrong paths, and
 * only if that was their code it would be there without instructions. */
static void set_data_alone(struct node_builder *b, const struct held_insn *h, struct graph_node *n,
                           const struct data_access *a, unsigned level)
{
    if (level == LEVEL_L1 && (a->level == LEVEL_L1 || a->merged))
        return;
    if (a->level <= LEVEL_L2)
        second_alone_confirm(&b->data_second, h->addr);
    bool alone = second_alone_use(&b->data_second, h->addr, b->insns, b->core.rob_size);
    n->data_alone = alone && (level > LEVEL_L2 || h->wrong_code);
}

/* The first use of a line that a prefetcher has proposed: whether the load waits for the prefetch or requests the line
 * depends on MSHRs, with either prediction. */
static void set_use(struct node_builder *b, const struct held_insn *h, struct graph_node *n, struct line_entry *e)
{
    const struct data_access *a = &h->access;
    uint64_t addr = h->addr;
    bool requested = a->level > LEVEL_L1 && !a->merged;
    uint16_t distance = distance_to(e->prefetch_arrival, b->arrivals, GRAPH_ARRIVALS);
    e->prefetch_arrival = 0;
    if (distance == 0 || n->match)
        return; /* a load that may take its data from a store waits for the prefetch as for any arrival */
    n->used_distance = distance;
    n->used_line = e->prefetch_line;
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        n->load_cycles[v] = requested ? a->cycles : e->prefetch_cycles;
        n->arrival_distance[v] = distance;
        const struct line_entry *second = entry_of(b->second_line, addr >> b->second_shift);
        n->second_distance[v] = distance_to(second->arrival[PREDICTION_PERFECT], b->arrivals, GRAPH_ARRIVALS);
    }
    n->requests = 0;
    bool there = a->level == LEVEL_L1 && a->cycles != 0;
    n->used_really = requested ? USED_REQUESTED : there ? USED_THERE : USED_PREFETCHED;
}

void nodes_set_load(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    struct line_entry *e = entry_of(b->line, h->addr >> b->data_shift);
    b->prefetches = 0;
    unsigned translation, level = nodes_data_level(b, h, &translation);
    unsigned brings = 0;
    set_translation(b, h, n, translation);
    find_match(b, h, n);
    for (unsigned v = 0; v < PREDICTIONS; v++)
        set_arrival(b, h, n, v, level, e);
    set_data_alone(b, h, n, &h->access, level);
    if (h->mshr_wait.cycles) {
        n->mshr_wait = h->mshr_wait;
        n->mshr_wait.cycles =
            (uint16_t)(h->mshr_wait.cycles < b->core.edge_most ? h->mshr_wait.cycles : b->core.edge_most);
        n->mshr_translated = h->access.translation_cycles != 0;
    }
    if (level == LEVEL_L1)
        set_use(b, h, n, e);
    for (unsigned v = 0; v < PREDICTIONS; v++)
        brings |= (unsigned)(n->load_cycles[v] != 0) << v;
    add_arrival(b, h->addr, n, e, brings, (unsigned[PREDICTIONS]){h->access.level, level});
    set_prefetches(b, &h->access, n);
}

/* A store that finds its line in the L1D or on its way waits for the access that brings the line, if that is known. */
static void set_store_arrival(const struct node_builder *b, const struct data_access *d, struct graph_node *n,
                              const struct line_entry *e)
{
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        if (n->requests >> v & 1)
            continue;
        n->arrival_distance[v] = distance_to(e->arrival[v], b->arrivals, GRAPH_ARRIVALS);
        if (n->arrival_distance[v] && (d->merged || d->level == LEVEL_L1))
            n->drain_cycles[v] = 1;
    }
    if (d->merged && e->prefetched && !n->arrival_distance[PREDICTION_REAL])
        n->late_distance = n->arrival_distance[PREDICTION_PERFECT];
}

/* Cycles of a store from its access until it leaves the store buffer, with perfect prediction. `d` is its access in the
 * real run, and `level` is where its line is with perfect prediction. A store that does not bring its line waits for
 * nothing, except if it is written past all caches. */
static uint16_t perfect_drain(const struct graph_core *c, const struct data_access *d, unsigned level)
{
    unsigned real = d->cycles ? d->cycles : 1;
    if (d->merged) /* it waits for a line on its way, with either prediction */
        return (uint16_t)real;
    if (!c->store_allocates)
        return (uint16_t)(level == d->level ? real : level == LEVEL_MEMORY ? c->write_latency : 1);
    return (uint16_t)(level == LEVEL_L1 ? 1 : d->level == LEVEL_L1 ? c->latency[level] : real);
}

void nodes_set_store(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    const struct data_access *d = &h->drain;
    bool loads = h->flags & IS_LOAD;
    if (!loads)
        b->prefetches = 0;
    unsigned translation, level = d->level;
    if (h->size && !loads) {
        level = nodes_data_level(b, h, &translation);
        set_translation(b, h, n, translation);
    }
    n->drain_cycles[PREDICTION_REAL] = d->cycles ? d->cycles : 1;
    n->drain_cycles[PREDICTION_PERFECT] = perfect_drain(&b->core, d, level);
    b->stores++;
    list_store(b, h);
    if (loads)
        return;
    unsigned real = d->level > LEVEL_L1 && !d->merged, perfect = level > LEVEL_L1;
    if (b->core.store_allocates) {
        struct line_entry *e = entry_of(b->line, h->addr >> b->data_shift);
        n->requests = (uint8_t)(real << PREDICTION_REAL | perfect << PREDICTION_PERFECT);
        for (unsigned v = 0; v < PREDICTIONS; v++) {
            n->second_distance[v] = second_distance(b, h, d, v, level, e);
            n->requests |= (uint8_t)((n->second_distance[v] != 0) << v);
            if (n->second_distance[v])
                n->drain_cycles[v] = (uint16_t)b->core.latency[LEVEL_L2];
        }
        set_data_alone(b, h, n, d, level);
        set_store_arrival(b, d, n, e);
        e->prefetch_arrival = 0;
        add_arrival(b, h->addr, n, e, n->requests, (unsigned[PREDICTIONS]){d->level, level});
    } else if (d->merged || d->level == LEVEL_L1) {
        set_store_arrival(b, d, n, entry_of(b->line, h->addr >> b->data_shift));
    }
    set_prefetches(b, d, n);
}
