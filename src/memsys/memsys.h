/* The memory hierarchy of one core: first-level instruction and data caches, a shared second and an optional third
 * level, two levels of TLBs, a bus and memory.
 *
 * Nothing here is ticked. An access is made at a cycle and is answered at once with the cycle at which its data can be
 * used; what is under way is state with a date (a line has the cycle at which it arrives, a port and the bus the cycle
 * from which they are free). Cycles of successive accesses never decrease.
 *
 * Times add up: a hit at a level takes the latencies of that level and of all levels before it. An access that finds
 * its line still on the way waits for it (a merged miss). A line takes its place in a cache when it is asked for, not
 * when it arrives. Caches hold no data and are neither inclusive nor exclusive; a dirty victim goes to the next level,
 * or over the bus to memory. Addresses are virtual: nothing is translated, a TLB only takes its time.
 *
 * An access that finds all MSHRs of a level taken is as if it had come when the first of them becomes free; at the
 * first data cache it is rejected and its owner tries again. The bus serves transfers in the order in which they are
 * asked for. With b bytes per cycle a transfer of n bytes occupies it for k = ceil(n / b) cycles from its start s on,
 * the first cycle in which the bus is free and the request is there; a line is there at s + k - 1 + memory_latency.
 * Without a limit that is memory_latency after the request.
 *
 * Accesses on the wrong path are like any other; `wrong_path` only sorts the counts.
 *
 * Limits: a dirty victim that is new to the next level takes a line there without fetching what it does not cover. A
 * prefetch is no demand access in the counts of lower levels, does not train their prefetchers, and is not stopped by
 * the end of a page. Any number of page walks go on at a time, and they do not use the caches. */
#ifndef CYCLESCOPE_MEMSYS_MEMSYS_H
#define CYCLESCOPE_MEMSYS_MEMSYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "base/state.h"

/* What a store does that hits the first data cache. The other levels write back, and a store that was passed on to them
 * brings no line in. */
enum mem_write { WRITE_BACK, WRITE_THROUGH };
const char *cache_write_name(unsigned i); /* NULL behind the last */

struct cache_config {
    const char *name;     /* as in core files: l1d */
    uint64_t size_bytes;  /* 0: there is no such cache */
    unsigned ways;        /* 1 to 64; size / (ways * line) is a power of two */
    unsigned line_bytes;  /* a power of two from 8 on, at least that of the level before; also of a first level that is
                             absent */
    unsigned latency;     /* cycles that this level takes */
    unsigned ports;       /* accesses that may begin in a cycle; 0: any number */
    unsigned mshrs;       /* lines that may be on the way; 0: any number */
    unsigned replacement; /* row of cache_replacements */
    enum mem_write write; /* of stores that hit */
    bool allocate_on_store;   /* a store miss brings the line in */
    unsigned prefetch;        /* row of cache_prefetchers */
    unsigned prefetch_degree; /* lines that one trigger asks for */
};

struct tlb_config {
    const char *name;
    unsigned entries; /* 0: there is none */
    unsigned ways;
    unsigned latency; /* cycles that a hit at the second level takes; a hit at the first takes none */
};

struct memsys_config {
    struct cache_config l1i, l1d, l2, l3;
    struct tlb_config itlb, dtlb, l2tlb; /* l2tlb serves both */
    unsigned page_bytes;
    unsigned walk_latency;                       /* cycles of a miss in the last TLB level, besides that level's own */
    unsigned memory_latency;                     /* cycles */
    unsigned memory_bytes_per_cycle;             /* bandwidth; 0: unlimited. Lines then queue for the bus */
    unsigned bus_bytes;                          /* width: a transfer of n bytes is ceil(n / width) transactions */
    bool perfect_l1i, perfect_l2i, perfect_itlb; /* always hits; state is neither read nor changed */
    bool perfect_l1d, perfect_l2d, perfect_dtlb;
    uint64_t seed; /* of random replacement */
};

enum mem_level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_MEMORY };
enum tlb_level { TLB_L1, TLB_L2, TLB_WALK };

/* How an access went. Where a perfect structure answers, it counts as a hit there. */
struct mem_answer {
    uint64_t ready;  /* cycle from which the data can be used; if rejected, from which to try again */
    uint8_t level;   /* enum mem_level that had the line or from which it is under way */
    bool merged;     /* the line was already under way, at this or a lower level */
    bool prefetched; /* the first use of a line that a prefetcher brought */
    bool rejected;   /* all MSHRs of the first level are taken: nothing has happened */
};

struct tlb_answer {
    uint64_t ready;
    uint8_t level; /* enum tlb_level */
};

/* What happened, by requester. Each line that an access touches counts. Demand counts sort by path: index 0 is all
 * accesses, index 1 those of the wrong path. */
struct cache_counts {
    uint64_t accesses[2], misses[2], merges[2];        /* a merged miss is a miss, too */
    uint64_t store_accesses, store_misses;             /* of these, by stores */
    uint64_t prefetch_accesses[2], prefetch_misses[2]; /* by prefetchers of the level before; not among the former */
    uint64_t writebacks, clean_evictions;              /* dirty and clean lines that left, by what took their place */
    uint64_t prefetches, useful_prefetches;            /* by who asked for them; by who used them before they left */
    uint64_t rejects;
};

struct memsys_counts {
    struct cache_counts l1i, l1d, l2i, l2d, l3i, l3d; /* l2 and l3 by what asked: instructions or data */
    uint64_t itlb_misses[2], dtlb_misses[2];          /* of the first level, also if the page was already under way */
    uint64_t itlb_walks[2], dtlb_walks[2];            /* begun: misses of all levels */
    uint64_t bus_transactions, bus_reads, bus_writes; /* reads + writes = transactions */
    uint64_t bus_busy_cycles;                         /* with limited bandwidth */
};

struct memsys;

struct memsys *memsys_new(const struct memsys_config *c, struct error *err) MUST_CHECK;
void memsys_free(struct memsys *m);
const struct memsys_counts *memsys_counts(const struct memsys *m);
/* The same of warm accesses; hits of a first level do not count, nor do writebacks and transfers of the bus. */
const struct memsys_counts *memsys_warm_counts(const struct memsys *m);
/* All that is hardware: without the counts. */
void memsys_visit_state(struct memsys *m, state_visitor *visit, void *context);
bool memsys_state_is_possible(const struct memsys *m); /* after it came from a file */

/* The calls that a core or a functional run makes all the time are inline (hit.h): hits of the first level end there.
 * Translation comes first and apart, since a load that misses a first-level TLB is sent back to wait for it. */
static inline struct tlb_answer memsys_translate_fetch(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);
static inline struct tlb_answer memsys_translate_data(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);

/* One line of instructions. Never rejected: it waits for an MSHR. */
static inline struct mem_answer memsys_fetch(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);
/* 1 to 8 bytes, possibly in two lines, which are then both accessed; the answer is the later one. If both miss, it
 * takes two free MSHRs (or all, if there is one) for the load not to be rejected. */
static inline struct mem_answer memsys_load(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now,
                                            bool wrong_path);
/* A store that leaves the store buffer: `ready` is when the buffer's entry is free, the next cycle for a hit. With no
 * allocation a miss passes the store on to the first level that has the line, or over the bus, and frees the entry in
 * the next cycle; it needs no MSHR. Never on the wrong path. */
struct mem_answer memsys_store(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now);

/* Is a port of the first data cache free in this cycle? Each load and store that is accepted takes one. */
static inline bool memsys_data_port_free(const struct memsys *m, uint64_t now);

/* State as after these accesses once all has arrived, TLBs and prefetched lines included, without counts. */
static inline void memsys_warm_fetch(struct memsys *m, uint64_t addr);
static inline void memsys_warm_data(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, bool is_store);

/* ---- policies: a const struct of functions and a row in the table */

struct cache_replacement {
    const char *name;
    /* Bytes of state per set of `ways` lines. */
    unsigned (*set_bytes)(unsigned ways);
    /* Used or brought in. NULL: the state is a uint64_t per way, which the cache sets to a number that grows with each
     * touch and that is 0 for empty ways, which the policy must prefer; so lru costs a hit no call. */
    void (*touch)(uint8_t *set, unsigned ways, unsigned way);
    unsigned (*victim)(uint8_t *set, unsigned ways, struct random *random); /* all ways are valid, see `touch` */
};

extern const struct cache_replacement *const cache_replacements[]; /* ends with NULL; row 0 is the default, lru */
const char *cache_replacement_name(unsigned i);

/* A prefetcher watches the demand accesses of one cache and proposes lines. Those of them that the cache lacks are
 * asked for like misses in the same cycle, as long as an MSHR is free. */
struct cache_prefetcher {
    const char *name;
    bool sees_hits;                                        /* `propose` is called for hits, too */
    void *(*create)(unsigned line_bytes, unsigned degree); /* NULL if it keeps no state */
    void (*destroy)(void *state);
    size_t state_bytes; /* of what `create` makes, which is one block without pointers */
    /* Writes up to `degree` addresses to `to` and returns their number. `miss`: the cache lacks the line, or this is
     * the first use of a line that was prefetched, so that a stream keeps going; not for later accesses to a line on
     * the way, so what is prefetched does not depend on time. `pc` is 0 for fetches, which so are one stream. NULL:
     * never. */
    unsigned (*propose)(void *state, uint64_t addr, uint64_t pc, bool miss, uint64_t *to);
};

enum { PREFETCH_MOST = 16 };
extern const struct cache_prefetcher *const cache_prefetchers[]; /* ends with NULL; row 0 is none */
const char *cache_prefetcher_name(unsigned i);

#include "memsys/hit.h"

#endif
