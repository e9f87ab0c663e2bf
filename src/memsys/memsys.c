#include "memsys/memsys.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "memsys/hierarchy.h"

const char *cache_write_name(unsigned i)
{
    static const char *const names[] = {[WRITE_BACK] = "back", [WRITE_THROUGH] = "through"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* ---- building a hierarchy from its configuration */

/* Initializes the L2 or L3. The configured line size of an absent level is ignored. */
static int init_lower(struct cache *c, const struct cache_config *k, uint8_t level, uint64_t seed, struct error *err)
{
    struct cache_config config = *k;
    if (config.size_bytes == 0)
        config.line_bytes = 64;
    return cache_init(c, &config, level, seed, err);
}

static int check_lines(const struct cache_config *k, const struct cache *c, const char *above, struct error *err)
{
    if (!c->next || c->next->line_bytes >= c->line_bytes)
        return 0;
    return error_set(err, -EINVAL, "%s.line is %u: it must be at least that of %s, %u", k->name, c->next->line_bytes,
                     above, c->line_bytes);
}

static int init_caches(struct memsys *m, const struct memsys_config *k, struct error *err)
{
    int status;
    if ((status = cache_init(&m->l1i, &k->l1i, LEVEL_L1, k->seed, err)) < 0 ||
        (status = cache_init(&m->l1d, &k->l1d, LEVEL_L1, k->seed + 1, err)) < 0 ||
        (status = init_lower(&m->l2, &k->l2, LEVEL_L2, k->seed + 2, err)) < 0 ||
        (status = init_lower(&m->l3, &k->l3, LEVEL_L3, k->seed + 3, err)) < 0)
        return status;
    struct cache *last = m->l3.present ? &m->l3 : NULL, *shared = m->l2.present ? &m->l2 : last;
    m->l1i.next = m->l1d.next = shared;
    m->l2.next = last;
    const struct cache_config *below = m->l2.present ? &k->l2 : &k->l3;
    if ((status = check_lines(below, &m->l1i, k->l1i.name, err)) < 0 ||
        (status = check_lines(below, &m->l1d, k->l1d.name, err)) < 0)
        return status;
    return m->l2.present ? check_lines(&k->l3, &m->l2, k->l2.name, err) : 0;
}

static int init_tlbs(struct memsys *m, const struct memsys_config *k, struct error *err)
{
    int status;
    if ((status = tlb_init(&m->itlb, &k->itlb, k->page_bytes, err)) < 0 ||
        (status = tlb_init(&m->dtlb, &k->dtlb, k->page_bytes, err)) < 0 ||
        (status = tlb_init(&m->l2tlb, &k->l2tlb, k->page_bytes, err)) < 0)
        return status;
    if (k->perfect_itlb)
        tlb_free(&m->itlb);
    if (k->perfect_dtlb)
        tlb_free(&m->dtlb);
    return 0;
}

struct memsys *memsys_new(const struct memsys_config *k, struct error *err)
{
    if (k->bus_bytes == 0) {
        error_set(err, -EINVAL, "bus.width is 0: it must be at least 1");
        return NULL;
    }
    struct memsys *m = calloc(1, sizeof *m);
    if (!m) {
        error_set(err, -ENOMEM, "out of memory for the caches");
        return NULL;
    }
    m->port_cycle = UINT64_MAX;
    m->l2_latency = k->l2.latency;
    m->walk_latency = k->walk_latency;
    m->memory_latency = k->memory_latency;
    m->bus_bytes = k->bus_bytes;
    m->bytes_per_cycle = k->memory_bytes_per_cycle;
    m->write_cycles = k->memory_write_cycles;
    m->perfect_l1i = k->perfect_l1i;
    m->perfect_l1d = k->perfect_l1d;
    m->perfect_l2i = k->perfect_l2i;
    m->perfect_l2d = k->perfect_l2d;
    if (init_caches(m, k, err) < 0 || init_tlbs(m, k, err) < 0) {
        memsys_free(m);
        return NULL;
    }
    bool l2_only = m->l2.present && !(m->l2.prefetcher && m->l2.prefetcher->sees_hits);
    m->l1i.warm_simply = l2_only && m->l1i.present && !m->l1i.prefetcher && !m->perfect_l1i && !m->perfect_l2i;
    m->l1d.warm_simply = l2_only && m->l1d.present && !m->l1d.prefetcher && !m->perfect_l1d && !m->perfect_l2d;
    /* Perfect caches answer with their own latency even if they are absent. */
    if (k->perfect_l1i)
        m->l1i.latency = k->l1i.latency;
    if (k->perfect_l1d)
        m->l1d.latency = k->l1d.latency;
    return m;
}

void memsys_free(struct memsys *m)
{
    if (!m)
        return;
    struct cache *caches[] = {&m->l1i, &m->l1d, &m->l2, &m->l3};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        cache_free(caches[i]);
    tlb_free(&m->itlb);
    tlb_free(&m->dtlb);
    tlb_free(&m->l2tlb);
    free(m);
}

void memsys_observe_prefetches(struct memsys *m, memsys_on_prefetch *on_prefetch, void *context)
{
    m->on_prefetch = on_prefetch;
    m->prefetch_context = context;
}

const struct tags *memsys_second_lines(const struct memsys *m)
{
    return &m->l2.tags;
}

static void tlb_visit_state(struct tlb *t, state_visitor *visit, void *context)
{
    if (!t->present)
        return;
    visit(context, &t->last_page, sizeof t->last_page);
    visit(context, &t->last_ready, sizeof t->last_ready);
    tags_visit_state(&t->tags, visit, context); /* hints may be stale: they are compared before use */
}

void memsys_visit_state(struct memsys *m, state_visitor *visit, void *context)
{
    struct cache *caches[] = {&m->l1i, &m->l1d, &m->l2, &m->l3};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        cache_visit_state(caches[i], visit, context);
    struct tlb *tlbs[] = {&m->itlb, &m->dtlb, &m->l2tlb};
    for (size_t i = 0; i < sizeof tlbs / sizeof *tlbs; i++)
        tlb_visit_state(tlbs[i], visit, context);
    visit(context, &m->port_cycle, sizeof m->port_cycle);
    visit(context, &m->ports_used, sizeof m->ports_used);
    visit(context, &m->bus_free, sizeof m->bus_free);
}

bool memsys_state_is_possible(const struct memsys *m)
{
    const unsigned lines = (LEVEL_MEMORY << LINE_LEVEL_SHIFT | LINE_DIRTY) + 1, pages = TLB_WALK + 1;
    return tags_notes_below(&m->l1i.tags, lines) && tags_notes_below(&m->l1d.tags, lines) &&
           tags_notes_below(&m->l2.tags, lines) && tags_notes_below(&m->l3.tags, lines) &&
           tags_notes_below(&m->itlb.tags, pages) && tags_notes_below(&m->dtlb.tags, pages) &&
           tags_notes_below(&m->l2tlb.tags, pages);
}

const struct memsys_counts *memsys_counts(const struct memsys *m)
{
    return &m->counts;
}

const struct memsys_counts *memsys_warm_counts(const struct memsys *m)
{
    return &m->warm;
}

struct memsys_sets memsys_warm_sets(const struct memsys *m, bool data)
{
    const struct cache *c = data ? &m->l1d : &m->l1i;
    const struct tlb *t = data ? &m->dtlb : &m->itlb;
    return (struct memsys_sets){.line_bytes = c->line_bytes,
                                .page_shift = t->last_shift,
                                .lines = c->tags.set_mask + 1,
                                .pages = t->present ? t->tags.set_mask + 1 : 1,
                                .keeps = c->present && c->hit_bytes && !c->prefetcher &&
                                         !(data ? m->perfect_l1d : m->perfect_l1i),
                                .crossed = c->prefetcher != NULL};
}

/* ---- translation */

static struct tlb_answer translate(struct memsys *m, struct tlb *t, uint64_t addr, uint64_t now, bool wrong_path,
                                   uint64_t misses[2], uint64_t walks[2])
{
    struct tlb_access a = tlb_access(t, &m->l2tlb, addr, now, m->walk_latency);
    misses[0] += a.missed;
    misses[1] += a.missed && wrong_path;
    walks[0] += a.walked;
    walks[1] += a.walked && wrong_path;
    return (struct tlb_answer){.ready = a.ready, .level = a.level};
}

struct tlb_answer memsys_translate_fetch_slow(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path)
{
    return translate(m, &m->itlb, addr, now, wrong_path, m->counts.itlb_misses, m->counts.itlb_walks);
}

struct tlb_answer memsys_translate_data_slow(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path)
{
    return translate(m, &m->dtlb, addr, now, wrong_path, m->counts.dtlb_misses, m->counts.dtlb_walks);
}

/* ---- accesses */

static struct mem_answer fetch(struct memsys *m, const struct request *q, uint64_t addr, uint64_t now)
{
    if (m->perfect_l1i) {
        hierarchy_count_access(hierarchy_counts(m, &m->l1i, q), q);
        return (struct mem_answer){.ready = now + m->l1i.latency, .level = LEVEL_L1};
    }
    if (!m->l1i.present)
        return hierarchy_below(m, &m->l1i, q, addr, now);
    return hierarchy_access(m, &m->l1i, q, addr, now);
}

struct mem_answer memsys_fetch_slow(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path)
{
    struct request q = {.demand = true, .wrong_path = wrong_path};
    return fetch(m, &q, addr, now);
}

/* Loads within one line. */
static struct mem_answer load(struct memsys *m, const struct request *q, uint64_t addr, uint64_t now)
{
    if (m->perfect_l1d) {
        hierarchy_count_access(hierarchy_counts(m, &m->l1d, q), q);
        return (struct mem_answer){.ready = now + m->l1d.latency, .level = LEVEL_L1};
    }
    if (!m->l1d.present)
        return hierarchy_below(m, &m->l1d, q, addr, now);
    return hierarchy_access(m, &m->l1d, q, addr, now);
}

/* Stores within one line. */
static struct mem_answer store(struct memsys *m, const struct request *q, uint64_t addr, unsigned size, uint64_t now)
{
    struct cache *c = &m->l1d;
    struct mem_answer a = {.ready = now + 1, .level = LEVEL_L1};
    if (m->perfect_l1d) {
        hierarchy_count_access(hierarchy_counts(m, c, q), q);
        return a;
    }
    if (tags_find(&c->tags, addr) < 0 && !c->allocate_on_store) {
        struct mem_answer passed = hierarchy_pass_store(m, c, q, addr, size, now + c->latency);
        a.level = passed.level;
        a.ready = passed.ready > a.ready ? passed.ready : a.ready;
        hierarchy_count_primary(m, q, false);
        if (a.level == LEVEL_MEMORY)
            hierarchy_count_primary(m, q, true);
        if (c->present) {
            struct cache_counts *n = hierarchy_counts(m, c, q);
            hierarchy_count_access(n, q);
            n->misses[0]++;
            n->store_misses++;
            hierarchy_prefetch(m, c, q, addr, true, now);
        }
        return a;
    }
    struct request w = *q;
    w.dirty = !c->write_through;
    a = hierarchy_access(m, c, &w, addr, now);
    uint64_t written = c->write_through ? hierarchy_pass_store(m, c, q, addr, size, now + c->latency).ready : 0;
    if (a.level == LEVEL_L1) /* a hit */
        a.ready = now + 1;
    if (written > a.ready)
        a.ready = written;
    return a;
}

/* ---- accesses that may lie in two lines */

/* Returns how many bytes of the access lie in its first line. */
static unsigned first_part(const struct cache *c, uint64_t addr, unsigned size)
{
    unsigned room = c->line_bytes - ((unsigned)addr & (c->line_bytes - 1));
    return size < room ? size : room;
}

static struct mem_answer later(struct mem_answer a, struct mem_answer b)
{
    bool b_later = b.ready > a.ready || (b.ready == a.ready && b.level > a.level);
    struct mem_answer last = b_later ? b : a;
    last.prefetched = a.prefetched || b.prefetched;
    return last;
}

/* Whether the access is rejected because MSHRs for its missing lines are not free. `a` then says when to try again. */
static bool reject(struct memsys *m, uint64_t addr, unsigned size, uint64_t now, struct mem_answer *a)
{
    struct cache *c = &m->l1d;
    if (!c->mshrs || m->perfect_l1d)
        return false;
    unsigned part = first_part(c, addr, size), lacks = tags_find(&c->tags, addr) < 0;
    if (part < size)
        lacks += tags_find(&c->tags, addr + part) < 0;
    if (cache_mshrs_free(c, lacks, now))
        return false;
    m->counts.l1d.rejects++;
    *a = (struct mem_answer){.ready = cache_mshr_next(c, now), .rejected = true};
    return true;
}

static struct mem_answer load_all(struct memsys *m, const struct request *q, uint64_t addr, unsigned size, uint64_t now)
{
    unsigned part = first_part(&m->l1d, addr, size);
    struct mem_answer a = load(m, q, addr, now);
    return part < size ? later(a, load(m, q, addr + part, now)) : a;
}

static struct mem_answer store_all(struct memsys *m, const struct request *q, uint64_t addr, unsigned size,
                                   uint64_t now)
{
    unsigned part = first_part(&m->l1d, addr, size);
    struct mem_answer a = store(m, q, addr, part, now);
    return part < size ? later(a, store(m, q, addr + part, size - part, now)) : a;
}

struct mem_answer memsys_load_slow(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now,
                                   bool wrong_path)
{
    struct mem_answer a;
    if (reject(m, addr, size, now, &a))
        return a;
    memsys_take_data_port(m, now);
    struct request q = {.pc = pc, .data = true, .demand = true, .wrong_path = wrong_path};
    return load_all(m, &q, addr, size, now);
}

struct mem_answer memsys_store(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now)
{
    struct cache *c = &m->l1d;
    ptrdiff_t i = tags_find(&c->tags, addr);
    unsigned end = ((unsigned)addr & (c->line_bytes - 1)) + size;
    if (__builtin_expect(i >= 0 && c->tags.arrival[i] <= now && end <= c->hit_bytes && !c->write_through, 1)) {
        tags_touch(&c->tags, (size_t)i);
        c->tags.note[i] |= LINE_DIRTY;
        m->counts.l1d.accesses[0]++;
        m->counts.l1d.store_accesses++;
        memsys_take_data_port(m, now);
        return (struct mem_answer){.ready = now + 1, .level = LEVEL_L1};
    }
    struct mem_answer a;
    if (c->allocate_on_store && reject(m, addr, size, now, &a))
        return a;
    memsys_take_data_port(m, now);
    struct request q = {.pc = pc, .data = true, .demand = true, .store = true};
    return store_all(m, &q, addr, size, now);
}

/* ---- warming: slow paths */

void memsys_warm_fetch_slow(struct memsys *m, uint64_t addr)
{
    if (hierarchy_warm_from_l2(m, &m->l1i, addr, false))
        return;
    struct request q = {.demand = true, .warm = true};
    fetch(m, &q, addr, 0);
}

void memsys_warm_data_slow(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, bool is_store)
{
    const struct cache *c = &m->l1d;
    bool within = first_part(c, addr, size) == size, brings = !is_store || (c->allocate_on_store && !c->write_through);
    if (within && brings && hierarchy_warm_from_l2(m, &m->l1d, addr, is_store))
        return;
    struct request q = {.pc = pc, .data = true, .demand = true, .store = is_store, .warm = true};
    if (is_store)
        store_all(m, &q, addr, size, 0);
    else
        load_all(m, &q, addr, size, 0);
}
