/* One cache: lines, outstanding misses, ports, and its prefetcher. It knows nothing about other levels except a pointer
 * to the next one; hierarchy.c moves lines between levels.
 *
 * A line's note holds LINE_DIRTY and the level that the line comes from, which matters while the line is on its way. */
#ifndef CYCLESCOPE_MEMSYS_CACHE_H
#define CYCLESCOPE_MEMSYS_CACHE_H

#include "base/error.h"
#include "base/state_visitor.h"
#include "memsys/tags.h"

struct cache_config;
struct cache_prefetcher;

enum { LINE_DIRTY = 1, LINE_LEVEL_SHIFT = 1 };
enum { CACHE_WAYS_MOST = 64 };

/* Accesses that begin in one cycle. */
struct port_use {
    uint64_t cycle;
    unsigned used;
};

struct cache {
    struct tags tags;    /* lines */
    unsigned latency;    /* cycles that this level adds */
    unsigned line_bytes; /* of an absent cache: bytes that an access moves */
    unsigned hit_bytes; /* bytes of a line that the fast path may access: line_bytes, or 0 if hits need the slow path */
    uint8_t level;      /* enum mem_level */
    bool present;       /* false: the core lacks this cache */
    bool write_through, allocate_on_store; /* policies of stores */
    unsigned ports;                        /* accesses per cycle; 0: any number */
    struct port_use *recent; /* port use of cycles around now, by cycle % PORT_CYCLES; NULL without a limit */
    unsigned mshrs;          /* outstanding misses; 0: any number */
    uint64_t *mshr;          /* cycles from which the MSHRs are free, in ascending order */
    const struct cache_prefetcher *prefetcher; /* NULL: none */
    void *prefetch_state;                      /* state of the prefetcher */
    bool warm_simply;   /* of an L1: its misses that hit the L2 have no further effects, such as prefetches */
    struct cache *next; /* NULL: memory */
};

/* On failure nothing needs to be freed. */
int cache_init(struct cache *c, const struct cache_config *config, uint8_t level, uint64_t seed,
               struct error *err) MUST_CHECK;
void cache_free(struct cache *c);
void cache_visit_state(struct cache *c, state_visitor *visit, void *context); /* visits arrays, not the struct itself */

/* Takes a port in the first cycle from `now` on that has a free one, and returns that cycle. Calls need not be in time
 * order; the number of accesses is remembered for about a thousand cycles. */
uint64_t cache_take_port(struct cache *c, uint64_t now);

/* Whether `lines` misses can begin now. More lines than MSHRs go one after the other, once all MSHRs are free. */
bool cache_mshrs_free(const struct cache *c, unsigned lines, uint64_t now);
/* Returns the first cycle from `now` on in which an MSHR is free. */
uint64_t cache_mshr_wait(const struct cache *c, uint64_t now);
/* Returns the first cycle after `now` in which an MSHR in use becomes free. */
uint64_t cache_mshr_next(const struct cache *c, uint64_t now);
/* Takes the MSHR that becomes free first, until cycle `until`. */
void cache_mshr_hold(struct cache *c, uint64_t until);

#endif
