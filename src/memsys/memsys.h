/* The memory hierarchy of one core: L1 instruction and data caches, a shared L2, an optional L3, two levels of TLBs, a
 * bus and memory.
 *
 * Nothing here is clocked. An access happens in a given cycle and returns at once the cycle in which its data can be
 * used. Activity in progress is state with a cycle number: a line has the cycle in which it arrives; a port and the bus
 * have the cycle from which they are free. The cycles of successive accesses never decrease.
 *
 * Latencies add up: a hit at a level takes the latencies of that level and of all levels before it. An access to a line
 * that is still on its way waits for it (a merged miss). A line takes its place in a cache when it is requested, not
 * when it arrives. Caches hold no data and are neither inclusive nor exclusive. A dirty victim goes to the next level,
 * or over the bus to memory. Addresses are virtual: a TLB only costs time, it translates nothing.
 *
 * An access that finds all MSHRs of a level in use behaves as if it came when the first one becomes free. At the L1D it
 * is rejected instead, and the core tries again. The bus serves transfers in the order of the requests. With b bytes
 * per cycle, a transfer of n bytes occupies the bus for k = ceil(n / b) cycles from cycle s on, the first cycle in
 * which the bus is free and the request is present; a line arrives at s + k - 1 + memory_latency. With unlimited
 * bandwidth it arrives memory_latency after the request. A store that no cache takes occupies the bus for at least
 * memory_write_cycles, as memory is busy with a single write for as long as with a whole access, also with unlimited
 * bandwidth.
 *
 * Accesses on the wrong path are like any other; `wrong_path` only separates the counts.
 *
 * Limits: a dirty victim that the next level lacks takes a line there, and the bytes that it does not cover are not
 * fetched. A prefetch is not a demand access in the counts of lower levels, does not train their prefetchers, and may
 * cross the end of a page. Any number of page walks run at once, and they do not use the caches. */
#ifndef CYCLESCOPE_MEMSYS_MEMSYS_H
#define CYCLESCOPE_MEMSYS_MEMSYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "base/state_visitor.h"

/* What a store does when it hits the L1D. The other levels write back, and a store that is passed on to them brings no
 * line in. */
enum mem_write { WRITE_BACK, WRITE_THROUGH };
const char *cache_write_name(unsigned i); /* NULL after the last */

struct cache_config {
    const char *name;    /* name of its section in core files: l1d */
    uint64_t size_bytes; /* 0: the core lacks this cache */
    unsigned ways;       /* 1 to 64; size / (ways * line) is a power of two */
    unsigned
        line_bytes;   /* power of two, at least 8 and at least that of the previous level; an absent L1 also has it */
    unsigned latency; /* cycles that this level adds */
    unsigned ports;   /* accesses that may begin per cycle; 0: any number */
    unsigned mshrs;   /* outstanding misses; 0: any number */
    unsigned replacement;     /* index in cache_replacements */
    enum mem_write write;     /* policy of stores that hit */
    bool allocate_on_store;   /* a store miss brings the line in */
    unsigned prefetch;        /* index in cache_prefetchers */
    unsigned prefetch_degree; /* lines that one trigger requests */
};

struct tlb_config {
    const char *name;
    unsigned entries; /* 0: the core lacks this TLB */
    unsigned ways;
    unsigned latency; /* cycles of a hit in the second-level TLB; a first-level hit takes none */
};

struct memsys_config {
    struct cache_config l1i, l1d, l2, l3;
    struct tlb_config itlb, dtlb, l2tlb; /* l2tlb serves instructions and data */
    unsigned page_bytes;
    unsigned walk_latency;           /* cycles of a miss in the last TLB level, in addition to that level's latency */
    unsigned memory_latency;         /* cycles */
    unsigned memory_bytes_per_cycle; /* bus bandwidth; 0: unlimited, without queueing */
    unsigned memory_write_cycles;    /* least cycles of the bus for a store that no cache takes; 0: only its bytes */
    unsigned bus_bytes;              /* bus width: a transfer of n bytes is ceil(n / width) transactions */
    bool perfect_l1i, perfect_l2i, perfect_itlb; /* always hits; its state is neither read nor changed */
    bool perfect_l1d, perfect_l2d, perfect_dtlb;
    uint64_t seed; /* seed of random replacement */
};

enum mem_level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_MEMORY };
enum tlb_level { TLB_L1, TLB_L2, TLB_WALK };

/* Result of an access. A perfect structure answers as a hit. */
struct mem_answer {
    uint64_t ready;  /* cycle from which the data can be used; if rejected, cycle in which to try again */
    uint8_t level;   /* enum mem_level that has the line, or from which it is on its way */
    bool merged;     /* the line was already on its way, at this or a lower level. For tests */
    bool prefetched; /* first use of a line that a prefetcher brought */
    bool rejected;   /* all MSHRs of the L1D are in use: nothing has changed */
};

struct tlb_answer {
    uint64_t ready;
    uint8_t level; /* enum tlb_level */
};

/* Counts of a cache, by requester. Each line that an access touches counts. Demand counts are arrays: [0] counts all
 * accesses, [1] those on the wrong path. */
struct cache_counts {
    uint64_t accesses[2], misses[2], merges[2]; /* a merged miss also counts as a miss */
    uint64_t store_accesses, store_misses;      /* part of the demand counts: by stores */
    /* by prefetchers of the previous level; not in the demand counts */
    uint64_t prefetch_accesses[2], prefetch_misses[2];
    uint64_t writebacks, clean_evictions; /* dirty and clean lines evicted, counted for the requester of the new line */
    uint64_t prefetches, useful_prefetches; /* lines requested by the prefetcher; of these, used before eviction */
    uint64_t rejects;
};

/* Primary misses: lines that demand accesses request because no level above has them or waits for them. An access to a
 * line that is already on its way does not count. A store that passes a cache without allocating counts. Arrays are
 * indexed as in struct cache_counts. */
struct primary_counts {
    uint64_t l1[2];     /* requests that the L1 passes on; if the core lacks it, all accesses */
    uint64_t memory[2]; /* requests that reach memory */
};

struct memsys_counts {
    /* the L2 and L3 count requests for instructions and for data separately */
    struct cache_counts l1i, l1d, l2i, l2d, l3i, l3d;
    struct primary_counts primary_i, primary_d; /* of instructions and of data */
    uint64_t itlb_misses[2], dtlb_misses[2];    /* misses of the first level, also if the page was already on its way */
    uint64_t itlb_walks[2], dtlb_walks[2];      /* page walks begun: misses of all levels */
    uint64_t bus_transactions, bus_reads, bus_writes; /* reads + writes = transactions */
    uint64_t bus_busy_cycles;                         /* 0 if transfers take none */
};

struct memsys;
struct tags;

/* A line that a prefetcher brings into a cache. */
struct prefetched_line {
    uint64_t addr;
    bool data;           /* a request for data triggered the prefetch; false: one for instructions */
    uint8_t into, level; /* enum mem_level of the cache, and of the level that has the line */
    uint64_t ready;      /* cycle in which it arrives; without meaning in a hierarchy that is only warmed */
};

typedef void memsys_on_prefetch(void *context, const struct prefetched_line *p);

struct memsys *memsys_new(const struct memsys_config *c, struct error *err) MUST_CHECK;
void memsys_free(struct memsys *m);
const struct memsys_counts *memsys_counts(const struct memsys *m);
/* Counts of warming accesses: misses of demand accesses, misses of TLBs, and page walks. The other counts are
 * incomplete. */
const struct memsys_counts *memsys_warm_counts(const struct memsys *m);
/* From now on `on_prefetch` is called for each line that a prefetcher requests; NULL: not any more. */
void memsys_observe_prefetches(struct memsys *m, memsys_on_prefetch *on_prefetch, void *context);
/* The lines of the L2, for observers. */
const struct tags *memsys_second_lines(const struct memsys *m);
/* Visits all hardware state. Counts are not part of it. */
void memsys_visit_state(struct memsys *m, state_visitor *visit, void *context);
bool memsys_state_is_possible(const struct memsys *m); /* whether state that came from a file is valid */

/* Calls on the hot path of the core and of warming are inline (hit.h): L1 hits end there. Translation is a separate
 * call that comes first, because a load that misses the first-level TLB is sent back to wait for its translation. */
static inline struct tlb_answer memsys_translate_fetch(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);
static inline struct tlb_answer memsys_translate_data(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);

/* Reads one line of instructions. Never rejected: it waits for an MSHR. */
static inline struct mem_answer memsys_fetch(struct memsys *m, uint64_t addr, uint64_t now, bool wrong_path);
/* Loads 1 to 8 bytes. If they lie in two lines, both are accessed and the later answer is returned. If both lines miss,
 * the load is rejected unless two MSHRs are free (or all MSHRs, if the cache has only one). */
static inline struct mem_answer memsys_load(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now,
                                            bool wrong_path);
/* A store leaves the store buffer. `ready` is the cycle in which the buffer's entry is free: the next cycle for a hit.
 * Without allocation, a miss passes the store on to the first level that has the line, or over the bus, and frees the
 * entry in the next cycle; with memory_write_cycles, when the bus is done with it. It needs no MSHR. Stores are never
 * on the wrong path. */
struct mem_answer memsys_store(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, uint64_t now);

/* Whether a port of the L1D is free in this cycle. Each accepted load or store takes one. */
static inline bool memsys_data_port_free(const struct memsys *m, uint64_t now);

/* Change the state as the access would, with all lines, pages and prefetches already arrived. memsys_counts do not
 * change. */
static inline void memsys_warm_fetch(struct memsys *m, uint64_t addr);
static inline void memsys_warm_data(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, bool is_store);

/* The two halves of these: the translation, and then the access to the L1. To repeat a half changes nothing more, as
 * long as no other access uses the same set of the TLB or of the L1; an access to the L1 that is a load or a plain hit.
 * A plain hit changes nothing but the age and the dirty bit of a line. */
static inline void memsys_warm_fetch_page(struct memsys *m, uint64_t addr);
static inline void memsys_warm_data_page(struct memsys *m, uint64_t addr);
static inline bool memsys_warm_fetch_line(struct memsys *m, uint64_t addr); /* whether it is a plain hit */
static inline bool memsys_warm_data_line(struct memsys *m, uint64_t addr, unsigned size, uint64_t pc, bool is_store);

/* The sets that warming accesses of one kind use. */
struct memsys_sets {
    unsigned line_bytes, page_shift; /* page_shift is log2 of the bytes of a page; 63 if there is no TLB */
    uint64_t lines, pages;           /* number of sets of the L1 and of its TLB */
    bool keeps;   /* a load or fetch that is no plain hit leaves its line in the L1: the next is one */
    bool crossed; /* an access that is no plain hit may change other sets of the L1 than its own */
};
struct memsys_sets memsys_warm_sets(const struct memsys *m, bool data);

/* ---- policies: each is a const struct of functions and a row in a table */

struct cache_replacement {
    const char *name;
    /* Returns the bytes of state per set of `ways` lines. */
    unsigned (*set_bytes)(unsigned ways);
    /* A line was used or placed. NULL: the state is a uint64_t stamp per way, which the cache itself sets to a number
     * that grows with each touch. Empty ways have stamp 0, and `victim` must prefer them. So LRU costs no call on a
     * hit. */
    void (*touch)(uint8_t *set, unsigned ways, unsigned way);
    /* Returns the way to evict. All ways are valid, except as described for `touch`. */
    unsigned (*victim)(uint8_t *set, unsigned ways, struct random *random);
};

extern const struct cache_replacement *const cache_replacements[]; /* NULL after the last; row 0 is the default, lru */
const char *cache_replacement_name(unsigned i);

/* A prefetcher observes the demand accesses of one cache and proposes lines. Proposed lines that the cache lacks are
 * requested like misses in the same cycle, as long as an MSHR is free. */
struct cache_prefetcher {
    const char *name;
    bool sees_hits;                                        /* `propose` is also called for hits */
    void *(*create)(unsigned line_bytes, unsigned degree); /* NULL: no state */
    void (*destroy)(void *state);
    size_t state_bytes; /* size of the part of the state to save: one block without pointers */
    /* Writes up to `degree` addresses to `to` and returns their number. `miss`: the cache lacks the line, or this is
     * the first use of a prefetched line, which keeps a stream going. Later accesses to a line that is on its way do
     * not count as misses, so prefetches do not depend on timing. `pc` is 0 for fetches, which form one stream. NULL:
     * never prefetches. */
    unsigned (*propose)(void *state, uint64_t addr, uint64_t pc, bool miss, uint64_t *to);
};

enum { PREFETCH_MOST = 16 };
extern const struct cache_prefetcher *const cache_prefetchers[]; /* NULL after the last; row 0 never prefetches */
const char *cache_prefetcher_name(unsigned i);

#include "memsys/hit.h"

#endif
