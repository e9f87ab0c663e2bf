#include "memsys/tlb.h"

#include <errno.h>

#include "memsys/memsys.h"

int tlb_init(struct tlb *t, const struct tlb_config *k, unsigned page_bytes, struct error *err)
{
    tlb_init_absent(t);
    if (k->entries == 0)
        return 0;
    if (k->ways == 0 || k->entries % k->ways || (k->entries / k->ways & (k->entries / k->ways - 1)))
        return error_set(err, -EINVAL, "%s.entries is %u: %s.entries / %s.ways must be a power of two", k->name,
                         k->entries, k->name, k->name);
    if (page_bytes < 8 || (page_bytes & (page_bytes - 1)))
        return error_set(err, -EINVAL, "tlb.page is %u: it must be a power of two and at least 8", page_bytes);
    if (!tags_init(&t->tags, k->entries / k->ways, k->ways, page_bytes, cache_replacements[0], 0))
        return error_set(err, -ENOMEM, "%s: out of memory for %u entries", k->name, k->entries);
    t->present = true;
    t->latency = k->latency;
    t->last_shift = t->tags.shift;
    t->last_page = UINT64_MAX; /* no page has this number */
    return 0;
}

void tlb_init_absent(struct tlb *t)
{
    *t = (struct tlb){.last_shift = 63};
}

void tlb_free(struct tlb *t)
{
    tags_free(&t->tags);
    tlb_init_absent(t);
}

static ptrdiff_t find(struct tlb *t, uint64_t addr)
{
    if (t->tags.ways <= 8)
        return tags_find(&t->tags, addr);
    uint64_t page = addr >> t->tags.shift;
    uint32_t *hint = &t->hint[page % TLB_HINTS];
    if (t->tags.tag[*hint] == (page | TAG_VALID))
        return *hint;
    ptrdiff_t i = tags_find(&t->tags, addr);
    if (i >= 0)
        *hint = (uint32_t)i;
    return i;
}

static void place(struct tlb *t, uint64_t addr, uint64_t arrival, uint8_t level)
{
    tags_place(&t->tags, tags_victim(&t->tags, addr), addr, arrival, level);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The first level lacks the page: takes it from the second level, or from a page walk. */
static struct tlb_access from_below(struct tlb *second, uint64_t addr, uint64_t now, unsigned walk_latency)
{
    struct tlb_access a = {.ready = now + second->latency, .level = TLB_L2, .missed = true};
    ptrdiff_t i = second->present ? find(second, addr) : -1;
    if (i >= 0) {
        if (second->tags.arrival[i] > now)
            a.level = TLB_WALK;
        a.ready = later(a.ready, second->tags.arrival[i]);
        tags_touch(&second->tags, (size_t)i);
        return a;
    }
    a.ready += walk_latency;
    a.level = TLB_WALK;
    a.walked = true;
    if (second->present)
        place(second, addr, a.ready, TLB_WALK);
    return a;
}

struct tlb_access tlb_access(struct tlb *t, struct tlb *second, uint64_t addr, uint64_t now, unsigned walk_latency)
{
    struct tlb_access a = {.ready = now, .level = TLB_L1};
    if (!t->present)
        return a;
    ptrdiff_t i = find(t, addr);
    if (i >= 0) {
        tags_touch(&t->tags, (size_t)i);
        if (t->tags.arrival[i] > now)
            a = (struct tlb_access){.ready = t->tags.arrival[i], .level = t->tags.note[i], .missed = true};
    } else {
        a = from_below(second, addr, now, walk_latency);
        place(t, addr, a.ready, a.level);
    }
    t->last_page = addr >> t->tags.shift;
    t->last_ready = a.ready;
    return a;
}

unsigned tlb_warm(struct tlb *t, struct tlb *second, uint64_t addr)
{
    uint64_t page = addr >> t->last_shift;
    if (!t->present || (page == t->last_page && t->last_ready == 0))
        return TLB_L1;
    unsigned level = TLB_L1;
    ptrdiff_t i = find(t, addr);
    if (i >= 0) {
        tags_touch(&t->tags, (size_t)i);
        t->tags.arrival[i] = 0;
    } else {
        i = second->present ? find(second, addr) : -1;
        if (i >= 0) {
            tags_touch(&second->tags, (size_t)i);
            second->tags.arrival[i] = 0;
            level = TLB_L2;
        } else {
            level = TLB_WALK;
            if (second->present)
                place(second, addr, 0, TLB_WALK);
        }
        place(t, addr, 0, TLB_L1);
    }
    t->last_page = page;
    t->last_ready = 0;
    return level;
}
