/* Prefetchers. They propose addresses; the cache drops those that it has and those that find no free MSHR. None knows
 * pages: a proposal may lie in the next one. */
#include <stddef.h>
#include <stdlib.h>

#include "memsys/memsys.h"

/* ---- next_line: the lines behind the one that missed */

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

/* ---- stride: instructions that walk through memory in equal steps. Once an instruction has made the same step twice
 * in a row, a miss of it asks for the next lines on its way. Steps of less than a line go line by line. All accesses
 * train it, so that hits between two misses do not hide the step; an access to the same address again says nothing. */

enum { STRIDE_ENTRIES = 256, STRIDE_SURE = 2 };

struct stride_entry {
    uint64_t pc;   /* whose entry this is; a conflict overwrites it */
    uint64_t last; /* address of its last access */
    int64_t step;  /* from the access before that one; 0: none yet */
    unsigned seen; /* how often in a row, at most STRIDE_SURE */
    bool used;
};

struct stride {
    struct stride_entry entry[STRIDE_ENTRIES];
    unsigned line_bytes, degree; /* behind what is its state */
};

static void *stride_create(unsigned line_bytes, unsigned degree)
{
    struct stride *s = calloc(1, sizeof *s);
    if (s) {
        s->line_bytes = line_bytes;
        s->degree = degree;
    }
    return s;
}

/* Returns whether the entry is sure of its step. */
static bool stride_train(struct stride_entry *e, uint64_t addr, uint64_t pc)
{
    if (!e->used || e->pc != pc) {
        *e = (struct stride_entry){.pc = pc, .last = addr, .used = true};
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
    struct stride *s = state;
    struct stride_entry *e = &s->entry[pc >> 1 & (STRIDE_ENTRIES - 1)]; /* instructions lie at even addresses */
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
                                               .state_bytes = offsetof(struct stride, line_bytes),
                                               .propose = stride_propose};

const struct cache_prefetcher *const cache_prefetchers[] = {&none, &next_line, &stride, NULL};

const char *cache_prefetcher_name(unsigned i)
{
    return i < sizeof cache_prefetchers / sizeof *cache_prefetchers && cache_prefetchers[i] ? cache_prefetchers[i]->name
                                                                                            : NULL;
}
