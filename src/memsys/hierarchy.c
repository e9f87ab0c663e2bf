#include "memsys/hierarchy.h"

struct cache_counts *hierarchy_counts(struct memsys *m, const struct cache *c, const struct request *q)
{
    struct memsys_counts *n = q->warm ? &m->warm : &m->counts;
    switch (c->level) {
    case LEVEL_L1: return q->data ? &n->l1d : &n->l1i;
    case LEVEL_L2: return q->data ? &n->l2d : &n->l2i;
    default: return q->data ? &n->l3d : &n->l3i;
    }
}

void hierarchy_count_access(struct cache_counts *n, const struct request *q)
{
    uint64_t *accesses = q->demand ? n->accesses : n->prefetch_accesses;
    accesses[0]++;
    accesses[1] += q->wrong_path;
    n->store_accesses += q->demand && q->store;
}

void hierarchy_count_primary(struct memsys *m, const struct request *q, bool memory)
{
    struct memsys_counts *n = q->warm ? &m->warm : &m->counts;
    struct primary_counts *p = q->data ? &n->primary_d : &n->primary_i;
    uint64_t *misses = memory ? p->memory : p->l1;
    misses[0] += q->demand;
    misses[1] += q->demand && q->wrong_path;
}

static void count_miss(struct cache_counts *n, const struct request *q, bool merged)
{
    uint64_t *misses = q->demand ? n->misses : n->prefetch_misses;
    misses[0]++;
    misses[1] += q->wrong_path;
    n->store_misses += q->demand && q->store;
    n->merges[0] += q->demand && merged;
    n->merges[1] += q->demand && merged && q->wrong_path;
}

static uint64_t ceil_div(uint64_t n, uint64_t by)
{
    return (n + by - 1) / by;
}

/* Occupies the bus for the cycles of the bytes, and for at least `least` cycles. Returns the last cycle of the
 * transfer; if it takes none (unlimited bandwidth), the cycle of the request. */
static uint64_t bus_transfer(struct memsys *m, unsigned bytes, unsigned least, bool write, uint64_t now)
{
    uint64_t transactions = ceil_div(bytes, m->bus_bytes);
    m->counts.bus_transactions += transactions;
    *(write ? &m->counts.bus_writes : &m->counts.bus_reads) += transactions;
    uint64_t cycles = m->bytes_per_cycle ? ceil_div(bytes, m->bytes_per_cycle) : 0;
    cycles = cycles > least ? cycles : least;
    if (cycles == 0)
        return now;
    uint64_t start = now > m->bus_free ? now : m->bus_free;
    m->bus_free = start + cycles;
    m->counts.bus_busy_cycles += cycles;
    return start + cycles - 1;
}

/* ---- victims */

static void place(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr, uint64_t arrival,
                  uint8_t note, uint64_t now);

/* Writes a dirty line back that leaves `from`. A perfect L2 accepts the line without any change of state. */
static void write_back(struct memsys *m, struct cache *from, const struct request *q, uint64_t addr, uint64_t now)
{
    struct cache *c = from->next;
    if (from->level == LEVEL_L1 && m->perfect_l2d)
        return;
    if (!c) {
        if (!q->warm)
            bus_transfer(m, from->line_bytes, 0, true, now);
        return;
    }
    ptrdiff_t i = tags_find(&c->tags, addr);
    if (i >= 0) {
        c->tags.note[i] |= LINE_DIRTY;
        tags_touch(&c->tags, (size_t)i);
    } else {
        place(m, c, q, addr, 0, LINE_DIRTY, now);
    }
}

/* Places the line of `addr` in c and writes back a dirty victim. */
static void place(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr, uint64_t arrival,
                  uint8_t note, uint64_t now)
{
    size_t i = tags_victim(&c->tags, addr);
    uint64_t victim = tags_address(&c->tags, i);
    bool leaves = c->tags.tag[i], dirty = leaves && (c->tags.note[i] & LINE_DIRTY);
    struct cache_counts *n = hierarchy_counts(m, c, q);
    tags_place(&c->tags, i, addr, arrival, note);
    n->clean_evictions += leaves && !dirty;
    if (dirty) {
        n->writebacks++;
        write_back(m, c, q, victim, now);
    }
}

/* ---- lines */

/* Uses the line at entry i of c, which has arrived or is on its way. */
static struct mem_answer use_line(struct cache *c, const struct request *q, size_t i, uint64_t now,
                                  struct cache_counts *n)
{
    uint64_t mark = c->tags.arrival[i] & ARRIVAL_PREFETCHED,
             arrival = q->warm ? 0 : c->tags.arrival[i] & ~ARRIVAL_PREFETCHED;
    bool first_use = q->demand && mark;
    c->tags.arrival[i] = q->demand ? arrival : arrival | mark;
    n->useful_prefetches += first_use;
    tags_touch(&c->tags, i);
    if (q->dirty)
        c->tags.note[i] |= LINE_DIRTY;
    struct mem_answer a = {.ready = now + c->latency, .level = c->level, .prefetched = first_use};
    if (arrival > now) {
        count_miss(n, q, true);
        a.merged = true;
        a.level = c->tags.note[i] >> LINE_LEVEL_SHIFT;
        if (arrival > a.ready)
            a.ready = arrival;
    }
    return a;
}

/* Requests a line that c lacks from the levels below. The dirty victim follows the request, so with limited bandwidth
 * the line comes first. `mark` is ARRIVAL_PREFETCHED or 0. */
static struct mem_answer bring_line(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr,
                                    uint64_t now, uint64_t mark)
{
    uint64_t asks = (q->warm ? now : cache_mshr_wait(c, now)) + c->latency;
    struct mem_answer a = hierarchy_below(m, c, q, addr, asks);
    if (!q->warm)
        cache_mshr_hold(c, a.ready);
    uint8_t note = (uint8_t)(a.level << LINE_LEVEL_SHIFT | (q->dirty ? LINE_DIRTY : 0));
    place(m, c, q, addr, (q->warm ? 0 : a.ready) | mark, note, asks);
    return a;
}

struct mem_answer hierarchy_access(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr,
                                   uint64_t now)
{
    struct cache_counts *n = hierarchy_counts(m, c, q);
    hierarchy_count_access(n, q);
    ptrdiff_t i = tags_find(&c->tags, addr);
    struct mem_answer a;
    if (i >= 0) {
        a = use_line(c, q, (size_t)i, now, n);
        hierarchy_prefetch(m, c, q, addr, a.prefetched, now);
    } else {
        count_miss(n, q, false);
        a = bring_line(m, c, q, addr, now, 0);
        hierarchy_prefetch(m, c, q, addr, true, now);
    }
    return a;
}

bool hierarchy_warm_from_l2(struct memsys *m, struct cache *c, uint64_t addr, bool dirty)
{
    struct tags *l2 = &m->l2.tags, *l1 = &c->tags;
    ptrdiff_t i = c->warm_simply && tags_find(l1, addr) < 0 ? tags_find(l2, addr) : -1;
    if (i < 0 || l2->arrival[i] != 0)
        return false;
    tags_touch(l2, (size_t)i);
    bool data = c == &m->l1d;
    struct cache_counts *n = data ? &m->warm.l1d : &m->warm.l1i;
    n->misses[0]++;
    n->store_misses += dirty;
    size_t victim = tags_victim(l1, addr);
    uint64_t leaves = tags_address(l1, victim);
    bool writes = l1->tag[victim] && l1->note[victim] & LINE_DIRTY;
    tags_place(l1, victim, addr, 0, (uint8_t)(LEVEL_L2 << LINE_LEVEL_SHIFT | (dirty ? LINE_DIRTY : 0)));
    if (writes)
        write_back(m, c, &(struct request){.data = data, .demand = true, .warm = true}, leaves, 0);
    return true;
}

struct mem_answer hierarchy_below(struct memsys *m, struct cache *above, const struct request *q, uint64_t addr,
                                  uint64_t now)
{
    struct cache *c = above->next;
    if (above->level == LEVEL_L1)
        hierarchy_count_primary(m, q, false);
    if (above->level == LEVEL_L1 && (q->data ? m->perfect_l2d : m->perfect_l2i)) {
        hierarchy_count_access(hierarchy_counts(m, &m->l2, q), q);
        return (struct mem_answer){.ready = now + m->l2_latency, .level = LEVEL_L2};
    }
    if (!c) {
        uint64_t sent = q->warm ? now : bus_transfer(m, above->line_bytes, 0, false, now);
        hierarchy_count_primary(m, q, true);
        return (struct mem_answer){.ready = sent + m->memory_latency, .level = LEVEL_MEMORY};
    }
    struct request lower = *q;
    lower.dirty = false;
    return hierarchy_access(m, c, &lower, addr, q->warm ? now : cache_take_port(c, now));
}

struct mem_answer hierarchy_pass_store(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr,
                                       unsigned size, uint64_t now)
{
    if (m->perfect_l2d) {
        hierarchy_count_access(hierarchy_counts(m, &m->l2, q), q);
        return (struct mem_answer){.level = LEVEL_L2};
    }
    struct request store = *q;
    store.dirty = true;
    for (c = c->next; c; c = c->next) {
        if (!q->warm)
            now = cache_take_port(c, now);
        if (tags_find(&c->tags, addr) >= 0) {
            hierarchy_access(m, c, &store, addr, now);
            return (struct mem_answer){.level = c->level};
        }
        struct cache_counts *n = hierarchy_counts(m, c, q);
        hierarchy_count_access(n, q);
        count_miss(n, q, false);
        hierarchy_prefetch(m, c, q, addr, true, now);
        now += c->latency;
    }
    struct mem_answer a = {.level = LEVEL_MEMORY};
    uint64_t last = q->warm ? 0 : bus_transfer(m, size, m->write_cycles, true, now);
    if (m->write_cycles)
        a.ready = last + 1;
    return a;
}

/* ---- prefetches */

void hierarchy_prefetch(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr, bool miss,
                        uint64_t now)
{
    const struct cache_prefetcher *p = c->prefetcher;
    if (!p || !q->demand || !(miss || p->sees_hits))
        return;
    uint64_t line[PREFETCH_MOST];
    unsigned count = p->propose(c->prefetch_state, addr, q->pc, miss, line);
    struct request prefetch = *q;
    prefetch.demand = false;
    prefetch.dirty = false;
    for (unsigned i = 0; i < count; i++) {
        if (tags_find(&c->tags, line[i]) >= 0 || (!q->warm && !cache_mshrs_free(c, 1, now)))
            continue;
        hierarchy_counts(m, c, q)->prefetches++;
        struct mem_answer a = bring_line(m, c, &prefetch, line[i], now, ARRIVAL_PREFETCHED);
        if (m->on_prefetch)
            m->on_prefetch(m->prefetch_context,
                           &(struct prefetched_line){line[i], q->data, c->level, a.level, a.ready});
    }
}
