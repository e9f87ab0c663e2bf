/* State of the memory hierarchy, and the inline calls of memsys.h. Public only for speed: other modules do not use the
 * fields.
 *
 * The fast path is an L1 hit that has no other effect: the line has arrived and was used before, the access lies within
 * it, and no prefetcher observes hits. Perfect and absent caches hold no lines, so all their accesses take the slow
 * path, and the fast path needs no test for them. */
#ifndef CYCLESCOPE_MEMSYS_HIT_H
#define CYCLESCOPE_MEMSYS_HIT_H

#include "memsys/memsys.h"
#include "memsys/cache.h"
#include "memsys/tlb.h"

struct memsys {
    struct cache l1d, l1i;
    struct tlb dtlb, itlb, l2tlb;
    uint64_t port_cycle; /* cycle of the last access to the L1D */
    unsigned ports_used; /* ports of the L1D used in port_cycle */
    struct memsys_counts counts;
    struct cache l2, l3;
    unsigned l2_latency; /* latency of accesses to a perfect L2, even if the core has no L2 */
    unsigned walk_latency, memory_latency;
    unsigned bus_bytes, bytes_per_cycle, write_cycles;
    uint64_t bus_free; /* cycle from which the bus is free, if transfers take cycles */
    bool perfect_l1i, perfect_l1d, perfect_l2i, perfect_l2d;
    struct memsys_counts warm;       /* counts of warming accesses */
    memsys_on_prefetch *on_prefetch; /* NULL: nobody observes prefetches */
    void *prefetch_context;
};

/* Slow paths: everything that the fast paths below do not handle. */
struct tlb_answer memsys_translate_fetch_slow(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);
struct tlb_answer memsys_translate_data_slow(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);
struct mem_answer memsys_fetch_slow(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);
struct mem_answer memsys_load_slow(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now,
                                   bool wrong_path);

static inline struct tlb_answer memsys_translate_fetch(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path)
{
    const struct tlb *t = &m->itlb;
    if (__builtin_expect(addr >> t->last_shift == t->last_page && t->last_ready <= now, 1))
        return (struct tlb_answer){.ready = now, .level = TLB_L1};
    return memsys_translate_fetch_slow(m, addr, now, wrong_path);
}

static inline struct tlb_answer memsys_translate_data(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path)
{
    const struct tlb *t = &m->dtlb;
    if (__builtin_expect(addr >> t->last_shift == t->last_page && t->last_ready <= now, 1))
        return (struct tlb_answer){.ready = now, .level = TLB_L1};
    return memsys_translate_data_slow(m, addr, now, wrong_path);
}

static inline struct mem_answer memsys_fetch(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path)
{
    struct cache *c = &m->l1i;
    ptrdiff_t i = tags_find(&c->tags, addr);
    if (__builtin_expect(i >= 0 && c->tags.arrival[i] <= now && c->hit_bytes, 1)) {
        tags_touch(&c->tags, (size_t)i);
        m->counts.l1i.accesses[0]++;
        m->counts.l1i.accesses[1] += wrong_path;
        return (struct mem_answer){.ready = now + c->latency, .level = LEVEL_L1};
    }
    return memsys_fetch_slow(m, addr, now, wrong_path);
}

static inline bool memsys_data_port_free(const struct memsys *m, uint64_t now)
{
    return m->l1d.ports == 0 || m->port_cycle != now || m->ports_used < m->l1d.ports;
}

static inline void memsys_take_data_port(struct memsys *m, uint64_t now)
{
    m->ports_used = (m->port_cycle == now ? m->ports_used : 0) + 1;
    m->port_cycle = now;
}

static inline struct mem_answer memsys_load(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now,
                                            bool wrong_path)
{
    struct cache *c = &m->l1d;
    ptrdiff_t i = tags_find(&c->tags, addr);
    unsigned end = ((unsigned)addr & (c->line_bytes - 1)) + size;
    if (__builtin_expect(i >= 0 && c->tags.arrival[i] <= now && end <= c->hit_bytes, 1)) {
        tags_touch(&c->tags, (size_t)i);
        m->counts.l1d.accesses[0]++;
        m->counts.l1d.accesses[1] += wrong_path;
        memsys_take_data_port(m, now);
        return (struct mem_answer){.ready = now + c->latency, .level = LEVEL_L1};
    }
    return memsys_load_slow(m, addr, size, pc, now, wrong_path);
}

/* ---- warming. Called for every line and access of a functional run: an access to the page of the last one and to a
 * line that has arrived ends inline. */

void memsys_warm_fetch_slow(struct memsys *m, uint64_t addr);
void memsys_warm_data_slow(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, bool is_store);

static inline bool tlb_is_warm(const struct tlb *t, uint64_t addr)
{
    return addr >> t->last_shift == t->last_page && t->last_ready == 0;
}

static inline void memsys_warm_fetch_page(struct memsys *m, uint64_t addr)
{
    if (tlb_is_warm(&m->itlb, addr))
        return;
    unsigned level = tlb_warm(&m->itlb, &m->l2tlb, addr);
    m->warm.itlb_misses[0] += level != TLB_L1;
    m->warm.itlb_walks[0] += level == TLB_WALK;
}

static inline void memsys_warm_data_page(struct memsys *m, uint64_t addr)
{
    if (tlb_is_warm(&m->dtlb, addr))
        return;
    unsigned level = tlb_warm(&m->dtlb, &m->l2tlb, addr);
    m->warm.dtlb_misses[0] += level != TLB_L1;
    m->warm.dtlb_walks[0] += level == TLB_WALK;
}

static inline bool memsys_warm_fetch_line(struct memsys *m, uint64_t addr)
{
    struct cache *c = &m->l1i;
    ptrdiff_t i = tags_find(&c->tags, addr);
    if (i >= 0 && c->tags.arrival[i] == 0 && c->hit_bytes) {
        tags_touch(&c->tags, (size_t)i);
        return true;
    }
    memsys_warm_fetch_slow(m, addr);
    return false;
}

static inline bool memsys_warm_data_line(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, bool is_store)
{
    struct cache *c = &m->l1d;
    ptrdiff_t i = tags_find(&c->tags, addr);
    unsigned end = ((unsigned)addr & (c->line_bytes - 1)) + size;
    if (i >= 0 && c->tags.arrival[i] == 0 && end <= c->hit_bytes && !(is_store && c->write_through)) {
        tags_touch(&c->tags, (size_t)i);
        c->tags.note[i] |= is_store ? LINE_DIRTY : 0;
        return true;
    }
    memsys_warm_data_slow(m, addr, size, pc, is_store);
    return false;
}

static inline void memsys_warm_fetch(struct memsys *m, uint64_t addr)
{
    memsys_warm_fetch_page(m, addr);
    memsys_warm_fetch_line(m, addr);
}

static inline void memsys_warm_data(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, bool is_store)
{
    memsys_warm_data_page(m, addr);
    memsys_warm_data_line(m, addr, size, pc, is_store);
}

#endif
