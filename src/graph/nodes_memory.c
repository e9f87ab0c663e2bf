/* What instructions that retire find in caches and TLBs: the second memory hierarchy, which no wrong path accesses. */
#include <string.h>

#include "graph/nodes_priv.h"

/* Returns the level that has the line, from misses counted before and after the access. */
static unsigned level_from_counts(const struct memsys *m, const uint64_t before[3], const uint64_t after[3])
{
    if (after[0] == before[0])
        return LEVEL_L1;
    if (m->l2.present && after[1] == before[1])
        return LEVEL_L2;
    return m->l3.present && after[2] == before[2] ? LEVEL_L3 : LEVEL_MEMORY;
}

void nodes_on_prefetch(void *context, const struct prefetched_line *p)
{
    struct node_builder *b = context;
    if (b->prefetches < PREFETCHES)
        b->prefetched[b->prefetches++] = *p;
}

static unsigned fetch_line(struct node_builder *b, uint64_t addr)
{
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    uint64_t before[3] = {w->l1i.misses[0], w->l2i.misses[0], w->l3i.misses[0]};
    memsys_warm_fetch(b->memory, addr);
    uint64_t after[3] = {w->l1i.misses[0], w->l2i.misses[0], w->l3i.misses[0]};
    return level_from_counts(b->memory, before, after);
}

unsigned nodes_fetch_level(struct node_builder *b, const struct held_insn *h, uint64_t first, uint64_t last)
{
    unsigned level = LEVEL_L1, second;
    if (first != b->fetched_line)
        level = fetch_line(b, first << b->fetch_shift);
    if (last != first && (second = fetch_line(b, last << b->fetch_shift)) > level)
        level = second;
    b->fetched_line = h->flags & IS_CONTROL && h->taken ? UINT64_MAX : last;
    return level;
}

static bool only_loads(const struct held_insn *h)
{
    return h->size && (h->flags & IS_MEM) == IS_LOAD;
}

/* A load that took its data from a store in the real run needs a translation, but no line. */
static unsigned access_page(struct node_builder *b, const struct held_insn *h, unsigned *translation)
{
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    uint64_t tlb[2] = {w->dtlb_misses[0], w->dtlb_walks[0]};
    memsys_warm_data_page(b->memory, h->addr);
    if ((h->addr ^ (h->addr + h->size - 1)) >> b->core.page_shift)
        memsys_warm_data_page(b->memory, h->addr + h->size - 1);
    *translation = nodes_tlb_level(tlb, (uint64_t[2]){w->dtlb_misses[0], w->dtlb_walks[0]});
    return LEVEL_L1;
}

static unsigned access_data(struct node_builder *b, const struct held_insn *h, unsigned *translation)
{
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    if (only_loads(h) && h->access.cycles == 0)
        return access_page(b, h, translation);
    uint64_t tlb[2] = {w->dtlb_misses[0], w->dtlb_walks[0]};
    uint64_t before[3] = {w->l1d.misses[0], w->l2d.misses[0], w->l3d.misses[0]};
    memsys_warm_data(b->memory, h->addr, h->size, h->pc, (h->flags & IS_MEM) == IS_STORE);
    uint64_t after[3] = {w->l1d.misses[0], w->l2d.misses[0], w->l3d.misses[0]};
    *translation = nodes_tlb_level(tlb, (uint64_t[2]){w->dtlb_misses[0], w->dtlb_walks[0]});
    if ((h->flags & IS_MEM) == IS_MEM) /* an atomic loads, and its store comes later */
        memsys_warm_data(b->memory, h->addr, h->size, h->pc, true);
    return level_from_counts(b->memory, before, after);
}

void nodes_look_at(struct node_builder *b, const struct held_insn *h)
{
    struct found_data *f = &b->found[b->looked++ % BUNDLE_MOST];
    if (!only_loads(h))
        return;
    b->prefetches = 0;
    f->level = access_data(b, h, &f->translation);
    f->prefetches = b->prefetches;
    memcpy(f->prefetched, b->prefetched, f->prefetches * sizeof *f->prefetched);
}

unsigned nodes_data_level(struct node_builder *b, const struct held_insn *h, unsigned *translation)
{
    if (b->insns >= b->looked || !only_loads(h))
        return access_data(b, h, translation);
    const struct found_data *f = &b->found[b->insns % BUNDLE_MOST];
    *translation = f->translation;
    b->prefetches = f->prefetches;
    memcpy(b->prefetched, f->prefetched, f->prefetches * sizeof *f->prefetched);
    return f->level;
}

unsigned nodes_add_prefetches(struct node_builder *b, bool data, unsigned into, unsigned line_shift, uint32_t arrival,
                              struct line_entry table[LINES])
{
    unsigned level = LEVEL_L1, lines = 0;
    for (unsigned i = 0; i < b->prefetches; i++) {
        const struct prefetched_line *p = &b->prefetched[i];
        if (p->data != data || p->into != into)
            continue;
        struct line_entry *e = entry_of(table, p->addr >> line_shift);
        e->arrival[PREDICTION_PERFECT] = e->prefetch_arrival = arrival;
        e->prefetched = true;
        e->prefetch_cycles = (uint16_t)b->core.latency[p->level];
        e->prefetch_line = (uint8_t)(lines < PREFETCH_LINES - 1 ? lines++ : lines);
        level = p->level > level ? p->level : level;
    }
    return level;
}
