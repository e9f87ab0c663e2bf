/* Prefetchers. They propose addresses; the cache drops those that it has and those that find no free MSHR. No
 * prefetcher knows pages: a proposal may lie in the next one. */
#include <stddef.h>
#include <stdlib.h>

#include "memsys/memsys.h"

/* ---- next_line: the lines after the one that missed */

struct next_line {
    unsigned line_bytes, degree;
};

static void *next_line_create(unsigned line_bytes, unsigned degree)
{
    struct next_line *s = malloc(sizeof *s);
    if (s)
        *s = (struct next_line){line_bytes, degree};
    return s;
}

static unsigned next_line_propose(void *state, uint64_t addr, uint64_t pc, bool miss, uint64_t *to)
{
    (void)pc;
    const struct next_line *s = state;
    if (!miss)
        return 0;
    for (unsigned i = 0; i < s->degree; i++)
        to[i] = addr + (uint64_t)(i + 1) * s->line_bytes;
    return s->degree;
}

/* ---- stride: for instructions that access memory in equal steps. Once an instruction has made the same step twice in
 * a row, its misses request the next lines in that direction. Steps of less than a line advance by a whole line. All
 * accesses train the prefetcher, so hits between two misses do not hide the step; a repeated access to the same address
 * is ignored. */

enum { STRIDE_ENTRIES = 256, STRIDE_SURE = 2 };

struct stride_prefetch_entry {
    uint64_t pc;   /* instruction of this entry; a conflict overwrites it */
    uint64_t last; /* address of the last access */
    int64_t step;  /* step from the access before the last; 0: none yet */
    unsigned seen; /* times in a row that the step was seen, at most STRIDE_SURE */
    bool used;     /* the entry is valid */
};

struct stride_prefetcher {
    struct stride_prefetch_entry entry[STRIDE_ENTRIES];
    unsigned line_bytes, degree; /* configuration, after the state to save (state_bytes) */
};

static void *stride_create(unsigned line_bytes, unsigned degree)
{
    struct stride_prefetcher *s = calloc(1, sizeof *s);
    if (s) {
        s->line_bytes = line_bytes;
        s->degree = degree;
    }
    return s;
}

/* Trains the entry. Returns whether its step was seen often enough to prefetch. */
static bool stride_train(struct stride_prefetch_entry *e, uint64_t addr, uint64_t pc)
{
    if (!e->used || e->pc != pc) {
        *e = (struct stride_prefetch_entry){.pc = pc, .last = addr, .used = true};
        return false;
    }
    int64_t step = (int64_t)(addr - e->last);
    if (step != 0) {
        e->seen = step == e->step ? STRIDE_SURE : 1;
        e->step = step;
        e->last = addr;
    }
    return e->seen == STRIDE_SURE;
}

static unsigned stride_propose(void *state, uint64_t addr, uint64_t pc, bool miss, uint64_t *to)
{
    struct stride_prefetcher *s = state;
    struct stride_prefetch_entry *e =
        &s->entry[pc >> 1 & (STRIDE_ENTRIES - 1)]; /* instructions lie at even addresses */
    if (!stride_train(e, addr, pc) || !miss)
        return 0;
    int64_t step = e->step, line = s->line_bytes;
    if (step < line && step > -line)
        step = step > 0 ? line : -line;
    for (unsigned i = 0; i < s->degree; i++)
        to[i] = addr + (uint64_t)(i + 1) * (uint64_t)step;
    return s->degree;
}

static const struct cache_prefetcher none = {.name = "none"};
static const struct cache_prefetcher next_line = {
    .name = "next_line", .create = next_line_create, .destroy = free, .propose = next_line_propose};
static const struct cache_prefetcher stride = {.name = "stride",
                                               .sees_hits = true,
                                               .create = stride_create,
                                               .destroy = free,
                                               .state_bytes = offsetof(struct stride_prefetcher, line_bytes),
                                               .propose = stride_propose};

const struct cache_prefetcher *const cache_prefetchers[] = {&none, &next_line, &stride, NULL};

const char *cache_prefetcher_name(unsigned i)
{
    return i < sizeof cache_prefetchers / sizeof *cache_prefetchers && cache_prefetchers[i] ? cache_prefetchers[i]->name
                                                                                            : NULL;
}
