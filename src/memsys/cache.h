/* One cache: lines, the misses under way, ports, and its prefetcher. It knows nothing of the levels around it but the
 * next one's address; hierarchy.c moves lines between levels.
 *
 * A line's note holds LINE_DIRTY and the level that it comes from (of interest while it is on the way). */
#ifndef CYCLESCOPE_MEMSYS_CACHE_H
#define CYCLESCOPE_MEMSYS_CACHE_H

#include "base/error.h"
#include "base/state.h"
#include "memsys/tags.h"

struct cache_config;
struct cache_prefetcher;

enum { LINE_DIRTY = 1, LINE_LEVEL_SHIFT = 1 };
enum { CACHE_WAYS_MOST = 64 };

/* The accesses that begin in one cycle. */
struct port_use {
    uint64_t cycle;
    unsigned used;
};

struct cache {
    struct tags tags;
    unsigned latency;
    unsigned line_bytes; /* of a cache that is absent: what an access moves */
    unsigned hit_bytes;  /* bytes of a line that a hit may touch on the fast path: line_bytes, or 0 if hits need more */
    uint8_t level;       /* enum mem_level */
    bool present;
    bool write_through, allocate_on_store;
    unsigned ports;                            /* 0: any number */
    struct port_use *recent;                   /* of the cycles around now, by their low bits; NULL without limit */
    unsigned mshrs;                            /* 0: any number */
    uint64_t *mshr;                            /* the cycles from which they are free, in ascending order */
    const struct cache_prefetcher *prefetcher; /* NULL: none */
    void *prefetch_state;
    struct cache *next; /* NULL: memory */
};

/* On failure nothing is left to be freed. */
int cache_init(struct cache *c, const struct cache_config *config, uint8_t level, uint64_t seed,
               struct error *err) MUST_CHECK;
void cache_free(struct cache *c);
void cache_visit_state(struct cache *c, state_visitor *visit, void *context); /* without the struct itself */

/* Takes a port in the first cycle from `now` on that has one, and returns that cycle. Calls need not be in the order of
 * time; how many accesses began is remembered for about a thousand cycles. */
uint64_t cache_take_port(struct cache *c, uint64_t now);

/* Can `lines` misses begin now? More lines than there are MSHRs go one after the other, once all are free. */
bool cache_mshrs_free(const struct cache *c, unsigned lines, uint64_t now);
/* The first cycle from `now` on in which an MSHR is free. */
uint64_t cache_mshr_wait(const struct cache *c, uint64_t now);
/* The first cycle behind `now` in which one that is taken becomes free. */
uint64_t cache_mshr_next(const struct cache *c, uint64_t now);
/* Takes the MSHR that is free first. */
void cache_mshr_hold(struct cache *c, uint64_t until);

#endif
