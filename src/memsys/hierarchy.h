/* How requests travel between the levels: down until a level has the line, and what that moves in the levels passed. */
#ifndef CYCLESCOPE_MEMSYS_HIERARCHY_H
#define CYCLESCOPE_MEMSYS_HIERARCHY_H

#include "memsys/memsys.h"

struct request {
    uint64_t pc; /* for prefetchers; 0 of fetches */
    bool data;   /* else instructions */
    bool demand; /* no prefetch: it counts, trains prefetchers, and is a use of the line */
    bool wrong_path;
    bool store; /* a store asks for it */
    bool warm;  /* all is there at once, and nothing counts */
    bool dirty; /* the line becomes dirty in the cache that is accessed first */
};

struct cache_counts *hierarchy_counts(struct memsys *m, const struct cache *c, const struct request *q);
/* An access counts when it finds a cache, before it is known how it goes. */
void hierarchy_count_access(struct cache_counts *n, const struct request *q);

/* The line of `addr` from cache c, or through it from below. */
struct mem_answer hierarchy_access(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr,
                                   uint64_t now);
/* The line of `addr` from the levels below `above`, which has missed or is absent. */
struct mem_answer hierarchy_below(struct memsys *m, struct cache *above, const struct request *q, uint64_t addr,
                                  uint64_t now);
/* A store that c misses and does not allocate, or that it writes through. Returns the level that took it. */
enum mem_level hierarchy_pass_store(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr,
                                    unsigned size, uint64_t now);
/* What the prefetcher of c asks for after an access. */
void hierarchy_prefetch(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr, bool miss,
                        uint64_t now);

#endif
