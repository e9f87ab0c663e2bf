/* Nodes while they are built: the state of the builder, and what the files share that build parts of a node.
 *
 * A node says what its instruction waits for, in a form that is the same in all sets of real structures. Its parts come
 * from nodes_fetch.c (instruction lines), fetch_groups.c, room.c (room in queues) and nodes_data.c (lines and
 * translations of data, stores that forward). All of them ask a second memory hierarchy, which only instructions that
 * retire access, what they would find without wrong paths (nodes_memory.c). */
#ifndef CYCLESCOPE_GRAPH_NODES_PRIV_H
#define CYCLESCOPE_GRAPH_NODES_PRIV_H

#include "graph/fetch_groups.h"
#include "graph/room.h"
#include "graph/second_alone.h"

enum {
    PREFETCHES = 64, /* lines that one access can make prefetchers request */
    LINES = 1024,    /* entries of the table of recent arrivals, by line */
    PAGES = 256,     /* entries of the table of recent walks, by page */
    BUCKETS = 4096,  /* lists of recent stores, by the 8 bytes that they write */
    NO_STORE = 0     /* stores count from 1 */
};

/* A store, in the lists of the granules of its first and its last byte. */
struct recent_store {
    uint64_t addr;
    uint32_t bucket[2], older[2]; /* older[i]: number of the next store in the list bucket[i], or NO_STORE */
    uint8_t size;
};

/* Which arrival last brought a line, by prediction; 0: none. Arrivals count from 1. */
struct line_entry {
    uint64_t line;
    uint32_t arrival[PREDICTIONS];
    bool prefetched;           /* the last arrival with perfect prediction is a prefetch */
    uint32_t prefetch_arrival; /* of a prefetch that has not been used; 0: none */
    uint16_t prefetch_cycles;  /* its latency */
    uint8_t prefetch_line;     /* its number among the lines of one access, less than PREFETCH_LINES */
    uint8_t alone;             /* of a prefetched instruction line: the L2 had it, as in node.second_alone */
    uint32_t insn;             /* of a line of the L2: the instruction that requested it last */
};

/* Which walk last brought the translation of a page, by prediction; 0: none. Walks count from 1. */
struct page_entry {
    uint64_t page;
    uint32_t walk[PREDICTIONS];
    uint32_t insn[PREDICTIONS]; /* number of the instruction that walked */
};

/* What a load has found that accessed its data before it became a node. */
struct found_data {
    unsigned level, translation, prefetches; /* as nodes_data_level and `prefetched` have them */
    struct prefetched_line prefetched[PREFETCHES];
};

struct node_builder {
    struct graph_core core;
    unsigned fetch_shift, data_shift, second_shift; /* log2 of the bytes of lines: of the L1I, the L1D and the L2 */
    struct memsys *memory;                          /* as instructions that retire leave it */
    struct second_alone code_second;                /* the L2 without data */
    struct second_alone early_second;               /* the same with lines of wrong paths, if there are few MSHRs */
    struct second_alone data_second;                /* the L2 without instructions */
    uint64_t insns;                                 /* nodes built so far */
    uint64_t looked;                                /* instructions looked at so far; without bundles 0 */
    uint32_t wrong_paths;                           /* mispredictions so far */
    uint64_t wrong_path[GRAPH_WRONG_PATHS];         /* the last mispredicted instructions, by their number */
    uint32_t stores;                                /* stores so far */
    uint32_t arrivals;                              /* arrivals so far */
    bool prefetcher;                                /* the L1I has one */
    uint64_t fetched_line; /* last line that `memory` was asked for, or UINT64_MAX after a taken branch */
    struct fetch_groups groups;
    struct room room;
    struct line_entry line[LINES];        /* of the L1D */
    struct line_entry second_line[LINES]; /* of the L2: prefetches */
    struct line_entry fetch_line[LINES];  /* of the L1I: prefetches */
    uint32_t fetch_arrivals;              /* arrivals of instruction lines so far */
    struct page_entry page[PAGES];
    uint32_t walks;                                /* walks for data so far */
    struct prefetched_line prefetched[PREFETCHES]; /* by the current access */
    unsigned prefetches;                           /* elements of `prefetched` */
    struct found_data found[BUNDLE_MOST];          /* by loads that were looked at, by instruction */
    uint32_t bucket[BUCKETS];                      /* number of the youngest store in each list, or NO_STORE */
    struct recent_store store[GRAPH_STORES];
};

/* The entry of a line. */
static inline struct line_entry *entry_of(struct line_entry table[LINES], uint64_t line)
{
    struct line_entry *e = &table[(line ^ line >> 12) % LINES];
    if (e->line != line)
        *e = (struct line_entry){.line = line};
    return e;
}

/* The distance to an arrival: 1 is the last one of `arrivals`. 0: there is none, or too many have come since. */
static inline uint16_t distance_to(uint32_t arrival, uint32_t arrivals, unsigned most)
{
    uint32_t back = arrivals - arrival;
    return arrival && back < most - 1 ? (uint16_t)(back + 1) : 0;
}

/* ---- nodes_memory.c */

/* Observes what the second hierarchy prefetches. */
void nodes_on_prefetch(void *context, const struct prefetched_line *p);
/* Fetches the lines of an instruction as far as they are not the current one. Returns the level of the farthest. */
unsigned nodes_fetch_level(struct node_builder *b, const struct held_insn *h, uint64_t first, uint64_t last);
/* Accesses data. Returns the level that has it, and sets *translation to the enum tlb_level that has the translation.
 */
unsigned nodes_data_level(struct node_builder *b, const struct held_insn *h, unsigned *translation);
/* The next instruction that has not been looked at accesses its data if it is a load; an atomic waits for its turn. */
void nodes_look_at(struct node_builder *b, const struct held_insn *h);
/* Returns the level that has a translation, from misses and walks counted before and after the access. */
static inline unsigned nodes_tlb_level(const uint64_t before[2], const uint64_t after[2])
{
    return after[1] > before[1] ? TLB_WALK : after[0] > before[0] ? TLB_L2 : TLB_L1;
}
/* Of the lines that the last access made prefetchers request, into a cache of this level: remembers in the table that
 * they come with number `arrival` if prediction is perfect; with real prediction, loads show in the real run how late
 * prefetches are. Returns the farthest level that the lines come from, or LEVEL_L1 if there is none. */
unsigned nodes_add_prefetches(struct node_builder *b, bool data, unsigned into, unsigned line_shift, uint32_t arrival,
                              struct line_entry table[LINES]);

/* ---- nodes_fetch.c, nodes_data.c: parts of a node */

void nodes_set_fetch(struct node_builder *b, const struct held_insn *h, struct graph_node *n);
/* The requests of the wrong path behind a mispredicted instruction. */
void nodes_set_wrong_requests(struct node_builder *b, const struct held_insn *h, struct graph_node *n);
void nodes_set_load(struct node_builder *b, const struct held_insn *h, struct graph_node *n);
void nodes_set_store(struct node_builder *b, const struct held_insn *h, struct graph_node *n);

#endif
