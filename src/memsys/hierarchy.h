/* How requests travel between the levels: down to the first level that has the line, and what changes in the levels
 * that they pass. */
#ifndef CYCLESCOPE_MEMSYS_HIERARCHY_H
#define CYCLESCOPE_MEMSYS_HIERARCHY_H

#include "memsys/memsys.h"

/* An access on its way through the hierarchy. */
struct request {
    uint64_t pc;     /* for prefetchers; 0 for fetches */
    bool data;       /* data; false: instructions */
    bool demand;     /* not a prefetch: counts, trains prefetchers, and is a use of the line */
    bool wrong_path; /* made on the wrong path */
    bool store;      /* made by a store */
    bool warm;       /* warming: everything arrives at once, and memsys_counts do not change */
    bool dirty;      /* the line becomes dirty in the first cache accessed */
};

/* Returns the counts of c for this kind of request. */
struct cache_counts *hierarchy_counts(struct memsys *m, const struct cache *c, const struct request *q);
/* Counts a primary miss of the L1 or, if `memory`, of all caches. Does nothing for prefetches. */
void hierarchy_count_primary(struct memsys *m, const struct request *q, bool memory);
/* Counts an access to a cache, before its outcome is known. */
void hierarchy_count_access(struct cache_counts *n, const struct request *q);

/* Accesses the line of `addr` in cache c, which requests it from below on a miss. */
struct mem_answer hierarchy_access(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr,
                                   uint64_t now);
/* Requests the line of `addr` from the levels below `above`, which has missed or is absent. */
struct mem_answer hierarchy_below(struct memsys *m, struct cache *above, const struct request *q, uint64_t addr,
                                  uint64_t now);
/* Warming access to a line that c, an L1, may lack: brings it from the L2. False: that is not all that it would do, and
 * nothing has changed. Most misses end here, and it costs a third of hierarchy_access. */
bool hierarchy_warm_from_l2(struct memsys *m, struct cache *c, uint64_t addr, bool dirty);
/* Passes on a store that misses c and does not allocate, or that c writes through. Returns the level that took it, and
 * the cycle in which it is written: 0 if nobody waits for that. */
struct mem_answer hierarchy_pass_store(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr,
                                       unsigned size, uint64_t now);
/* Lets the prefetcher of c request lines after an access. */
void hierarchy_prefetch(struct memsys *m, struct cache *c, const struct request *q, uint64_t addr, bool miss,
                        uint64_t now);

#endif
