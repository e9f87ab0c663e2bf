#include "memsys/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memsys/memsys.h"

enum { PORT_CYCLES = 1024 };          /* cycles for which the use of ports is remembered */
#define SIZE_MOST (UINT64_C(1) << 40) /* keeps sizes of tables from overflowing */

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

static int check(const struct cache_config *k, struct error *err)
{
    if (!is_power_of_two(k->line_bytes) || k->line_bytes < 8)
        return error_set(err, -EINVAL, "%s.line is %u: it must be a power of two and at least 8", k->name,
                         k->line_bytes);
    if (k->size_bytes == 0)
        return 0;
    if (k->ways == 0 || k->ways > CACHE_WAYS_MOST)
        return error_set(err, -EINVAL, "%s.ways is %u: it must be 1 to %d", k->name, k->ways, CACHE_WAYS_MOST);
    if (k->size_bytes > SIZE_MOST)
        return error_set(err, -EINVAL, "%s.size is %llu: it must be at most %llu", k->name,
                         (unsigned long long)k->size_bytes, (unsigned long long)SIZE_MOST);
    uint64_t way_bytes = (uint64_t)k->ways * k->line_bytes;
    if (k->size_bytes % way_bytes || !is_power_of_two(k->size_bytes / way_bytes))
        return error_set(err, -EINVAL, "%s.size is %llu: %s.size / (%s.ways * %s.line) must be a power of two", k->name,
                         (unsigned long long)k->size_bytes, k->name, k->name, k->name);
    if (!cache_replacement_name(k->replacement))
        return error_set(err, -EINVAL, "%s.replacement: there is no policy %u", k->name, k->replacement);
    if (!cache_prefetcher_name(k->prefetch))
        return error_set(err, -EINVAL, "%s.prefetch: there is no prefetcher %u", k->name, k->prefetch);
    if (k->prefetch_degree > PREFETCH_MOST)
        return error_set(err, -EINVAL, "%s.prefetch_degree is %u: it must be at most %d", k->name, k->prefetch_degree,
                         PREFETCH_MOST);
    return 0;
}

static bool allocate(struct cache *c, const struct cache_config *k, uint64_t seed)
{
    /* An absent cache has one line that is never filled, so lookups need no test for it. */
    uint64_t sets = c->present ? k->size_bytes / ((uint64_t)k->ways * k->line_bytes) : 1;
    unsigned ways = c->present ? k->ways : 1;
    if (!tags_init(&c->tags, sets, ways, k->line_bytes, cache_replacements[c->present ? k->replacement : 0], seed))
        return false;
    if (c->mshrs && !(c->mshr = calloc(c->mshrs, sizeof *c->mshr)))
        return false;
    if (c->ports && c->level != LEVEL_L1 && !(c->recent = calloc(PORT_CYCLES, sizeof *c->recent)))
        return false;
    if (c->prefetcher && c->prefetcher->create)
        return (c->prefetch_state = c->prefetcher->create(k->line_bytes, k->prefetch_degree)) != NULL;
    return true;
}

int cache_init(struct cache *c, const struct cache_config *k, uint8_t level, uint64_t seed, struct error *err)
{
    int status = check(k, err);
    if (status < 0)
        return status;
    bool present = k->size_bytes > 0;
    const struct cache_prefetcher *p = present ? cache_prefetchers[k->prefetch] : NULL;
    *c = (struct cache){
        .latency = present ? k->latency : 0,
        .line_bytes = k->line_bytes,
        .hit_bytes = p && p->sees_hits ? 0 : k->line_bytes,
        .level = level,
        .present = present,
        .write_through = k->write == WRITE_THROUGH,
        .allocate_on_store = present && k->allocate_on_store,
        .ports = k->ports,
        .mshrs = present ? k->mshrs : 0,
        .prefetcher = p && p->propose && k->prefetch_degree ? p : NULL,
    };
    if (allocate(c, k, seed))
        return 0;
    cache_free(c);
    return error_set(err, -ENOMEM, "%s: out of memory for a cache of %llu bytes", k->name,
                     (unsigned long long)k->size_bytes);
}

void cache_free(struct cache *c)
{
    if (c->prefetch_state)
        c->prefetcher->destroy(c->prefetch_state);
    free(c->recent);
    free(c->mshr);
    tags_free(&c->tags);
    *c = (struct cache){0};
}

void cache_visit_state(struct cache *c, state_visitor *visit, void *context)
{
    tags_visit_state(&c->tags, visit, context);
    if (c->mshr)
        visit(context, c->mshr, c->mshrs * sizeof *c->mshr);
    if (c->recent)
        visit(context, c->recent, PORT_CYCLES * sizeof *c->recent);
    if (c->prefetch_state)
        visit(context, c->prefetch_state, c->prefetcher->state_bytes);
}

uint64_t cache_take_port(struct cache *c, uint64_t now)
{
    if (!c->ports)
        return now;
    for (;; now++) {
        struct port_use *p = &c->recent[now % PORT_CYCLES];
        if (p->cycle > now)
            return now; /* the cycle is too long ago: its use is forgotten */
        if (p->cycle < now)
            *p = (struct port_use){.cycle = now};
        if (p->used < c->ports) {
            p->used++;
            return now;
        }
    }
}

bool cache_mshrs_free(const struct cache *c, unsigned lines, uint64_t now)
{
    if (lines > c->mshrs)
        lines = c->mshrs;
    return lines == 0 || c->mshr[lines - 1] <= now;
}

uint64_t cache_mshr_wait(const struct cache *c, uint64_t now)
{
    return c->mshrs && c->mshr[0] > now ? c->mshr[0] : now;
}

uint64_t cache_mshr_next(const struct cache *c, uint64_t now)
{
    for (unsigned i = 0; i < c->mshrs; i++)
        if (c->mshr[i] > now)
            return c->mshr[i];
    return now;
}

/* The latest request usually arrives last, so the search from the end is short. */
void cache_mshr_hold(struct cache *c, uint64_t until)
{
    if (!c->mshrs)
        return;
    unsigned i = c->mshrs - 1;
    while (i > 0 && c->mshr[i] > until)
        i--;
    memmove(c->mshr, c->mshr + 1, i * sizeof *c->mshr);
    c->mshr[i] = until;
}
