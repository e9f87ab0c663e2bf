/* Shared by the files of this module, and by the literal evaluation in tests/graph.
 *
 * An instruction that retires takes three steps. It is held until it is known how its store reached the cache
 * (graph.c). Then it becomes a node: everything that is the same in all sets is worked out once (nodes_priv.h). Then
 * the node is evaluated for all sets at once (lanes_priv.h). */
#ifndef CYCLESCOPE_GRAPH_GRAPH_PRIV_H
#define CYCLESCOPE_GRAPH_GRAPH_PRIV_H

#include "core/code.h"
#include "graph/graph.h"

/* Of widths and sizes of a lane: there is no limit. */
#define NO_LIMIT UINT32_MAX

/* Most cycles of one edge, and of all edges of one instruction together: longer ones are cut. The times of lanes.c have
 * room for a few instructions at once, and for those of two bundles. */
enum { EDGE_CYCLES_MOST = 2500, NODE_CYCLES_MOST = 10000, BUNDLES_CYCLES_MOST = 28000, STORE_LEAD_MOST = 18000 };

static inline unsigned node_cycles_most(unsigned bundle)
{
    unsigned each = bundle ? BUNDLES_CYCLES_MOST / (2 * bundle) : NODE_CYCLES_MOST;
    return each < NODE_CYCLES_MOST ? each : NODE_CYCLES_MOST;
}

static inline unsigned edge_cycles_most(unsigned bundle)
{
    unsigned all = node_cycles_most(bundle);
    return all < EDGE_CYCLES_MOST ? all : EDGE_CYCLES_MOST;
}

/* What the graph needs to know about a core. Numbers without limit are 1 << 30. */
struct graph_core {
    unsigned real;  /* mask of structures that are real; the evaluation of all sets at once does not use it */
    bool any_order; /* no access waits for older ones; only lanes of a single set look at it */
    unsigned fetch_width, fetch_lines, fetch_branches, fetch_line_bytes;
    unsigned fetch_latency; /* of the L1I */
    unsigned fetch_mshrs;   /* of an L1I with a prefetcher, if there are few; else 1 << 30 */
    unsigned front_stages, front_size, decode_width, dispatch_width, commit_width;
    unsigned bundle;               /* most instructions that dispatch and commit as a whole; 0: no bundles */
    unsigned edge_most, node_most; /* edge_cycles_most, node_cycles_most */
    unsigned rob_size, lsq_size, lsq_loads, lsq_stores, store_buffer_size, int_regs, fp_regs;
    unsigned issue_width, ports, queue_size[QUEUES], iq_size;
    unsigned mshrs; /* of the L1D */
    bool store_allocates;
    unsigned data_line_bytes, second_line_bytes; /* lines of the L1D and the L2 */
    unsigned live_stores; /* stores that can be in the store queue or the store buffer, less than GRAPH_STORES */
    unsigned forward_latency;
    unsigned page_shift;                /* log2 of the bytes of a page */
    unsigned translation[TLB_WALK + 1]; /* cycles of a translation, by the level that has it */
    unsigned latency[LEVEL_MEMORY + 1]; /* of a load, by the level that has its line */
    unsigned bus_cycles;                /* that a line occupies the bus; 0: no limit */
    unsigned write_latency;             /* of a store that is written past all caches */
    uint8_t units[POOLS];
    struct class_timing timing[CLASS_COUNT];
};

/* Most instructions in a bundle. */
enum { BUNDLE_MOST = 16 };

/* An instruction that has retired and waits until older stores have reached the cache. */
struct held_insn {
    uint64_t pc, addr;
    uint16_t flags; /* enum insn_flag */
    uint8_t length, size, class, source[SOURCES], dest;
    bool taken, mispredicted;
    bool wrong_code; /* wrong paths have brought more code than data into the L2 so far */
    uint32_t store;  /* IS_STORE: position in the store queue */
    struct fetch_stalls stalls;
    struct data_access access; /* of a load, or translation of a store */
    struct data_access drain;  /* of a store */
    struct unit_use wrong_path;
    struct younger_wait unit_wait, mshr_wait;
    struct wrong_request wrong_line[WRONG_REQUESTS];   /* set if stalls.wrong_use */
    struct wrong_made wrong_made[WRONG_PATH_REQUESTS]; /* set if mispredicted */
};

/* Instructions that have retired, in the order of the program: number i is element i & mask. */
struct held_insns {
    const struct held_insn *of;
    uint64_t mask, end; /* `end`: number of the first that has not retired yet */
};

/* Variants of an edge that depend on prediction: with the real predictor, and with perfect prediction. */
enum { PREDICTION_REAL, PREDICTION_PERFECT, PREDICTIONS };

/* Variants of what fetch waits for. Sets with real prediction in which data caches are real as well take the stalls of
 * the run. In the others, branches resolve early: what was there in time in the run may still be on its way, and wrong
 * paths that have ended leave their requests behind. */
enum fetch_variant { FETCH_REAL, FETCH_PERFECT, FETCH_EARLY, FETCH_VARIANTS };

/* Rows that the evaluation keeps: of the last stores, of the last lines of data and of code, and of the last pages. */
enum { GRAPH_STORES = 512, GRAPH_ARRIVALS = 512, GRAPH_FETCH_ARRIVALS = 64, GRAPH_WALKS = 32 };

/* Mispredictions after which lines that a wrong path has requested count as there. */
enum { GRAPH_WRONG_PATHS = 32 };

/* Lines that one access makes prefetchers propose for an L1 and that may lack MSHRs. Further ones fare as the last. */
enum { PREFETCH_LINES = 4 };

/* What the first use of a line that a prefetcher has proposed found in the real run: the line was on its way, the use
 * requested it, or the line was there. */
enum used_really { USED_UNKNOWN, USED_PREFETCHED, USED_REQUESTED, USED_THERE };

/* An L1I with more MSHRs never lacks one. Requests of wrong paths that would wait longer for one are not made. */
enum { FETCH_MSHRS_MOST = 16, WRONG_WAIT_MOST = 1000 };

enum node_flag {
    NODE_LOAD = 1,
    NODE_STORE = 2,         /* has an entry in the store queue */
    NODE_AT_HEAD = 4,       /* issues as the oldest instruction; if it is a store, with older stores in the cache */
    NODE_SERIAL = 8,        /* the next instruction is fetched when this one has retired */
    NODE_MISPREDICTED = 16, /* the next instruction is fetched when this one resolves */
    NODE_LATE_DATA = 32,    /* a store that issues without its data, source[1] */
    NODE_WHOLE = 64,        /* the store in `match` covers all bytes of the load */
    NODE_ENDS_BUNDLE = 128  /* a control transfer, or NODE_AT_HEAD, which is also alone in its bundle */
};

/* The wrong path of the mispredicted instruction at this distance, counted in mispredictions, requests the line of an
 * instruction. The cycles count from the fetch of the mispredicted instruction, in the parts of struct wrong_request.
 * If it resolves before, the wrong path does not get there. */
struct wrong_edge {
    uint8_t distance; /* 0: none */
    uint8_t number;   /* the line comes with this request of the wrong path, from 1; 0: with none that is kept */
    uint16_t cycles, lines, second_lines, walks, room;
};

/* A request of a wrong path for an instruction line: when it comes, as in struct wrong_edge, and its latency. */
struct wrong_fetch {
    uint16_t cycles, lines, second_lines, walks, room;
    uint16_t beyond;   /* cycles that the line takes beyond the L2 */
    bool second_alone; /* the L2 has it, if no data is in the L2 */
    bool prefetch;     /* it is made if an MSHR is free; others wait for one */
};

/* The edges of one instruction. Distances count instructions backward, 0: none. */
struct graph_node {
    /* Edges that few instructions have: for most, all words are 0. */
    union {
        struct {
            uint16_t l1i_cycles[FETCH_VARIANTS], l2i_cycles[FETCH_VARIANTS]; /* fetch stalls */
            uint16_t itlb_cycles[PREDICTIONS];
            uint16_t misfetch_cycles;
            /* On cores with few MSHRs for instruction lines, in the variants of `fetch_requests`: cycles from the
             * request of its line until it comes from the L2, and further ones if it comes from beyond. */
            uint16_t fetch_demand, fetch_demand_second[FETCH_VARIANTS];
            uint16_t fetch_prefetch_cycles;    /* beyond the L2, until prefetched instruction lines arrive */
            uint16_t dtlb_cycles[PREDICTIONS]; /* until it issues again with its translation */
            uint16_t load_cycles[PREDICTIONS]; /* of a load that requests a line: its latency; else 0 */
            /* Until lines arrive in the L1D, and in the L2, that its access makes prefetchers request; 0: none. */
            uint16_t prefetch_cycles, second_prefetch_cycles;
        };
        uint64_t rare[5];
    };
    uint8_t flags;     /* enum node_flag */
    uint8_t new_group; /* bit v: begins a fetch group in variant v, see group_variant */
    uint8_t class;     /* enum op_class */
    uint8_t source[SOURCES], dest;
    uint8_t fetch_waits;        /* bit v: fetch waits for its lines in prediction v, which ends the group */
    struct unit_use wrong_path; /* of a mispredicted branch: the unit that its wrong path keeps busy */
    /* Its wait for younger instructions that keep units busy. With perfect prediction none of them is of a wrong path.
     */
    struct younger_wait unit_wait;
    /* Of a load, its wait for MSHRs that younger ones have. It counts if both data caches are real and, with
     * `mshr_translated`, the D-TLB: then the load waited for its translation before. */
    struct younger_wait mshr_wait;
    bool mshr_translated;
    uint16_t walk_distance[PREDICTIONS];    /* the translation comes with that of this many walks before the next */
    bool walks;                             /* others may wait for its translation: it has a number among walks */
    uint16_t drain_cycles[PREDICTIONS];     /* of a store: from its access until it leaves the store buffer */
    uint16_t arrival_distance[PREDICTIONS]; /* the line comes with the arrival of that many arrivals before the next */
    uint16_t room;                          /* distance to the instruction whose commit makes room for this one */
    uint16_t match;                         /* stores back to the youngest one that overlaps the load, 1: the last */
    uint16_t second_distance[PREDICTIONS];  /* the L2 gets the line with the arrival at this distance */
    /* It is the first to use a line that a prefetcher has proposed, as one of the lines that come with the arrival at
     * this distance. Where the prefetch found no MSHR, it requests the line itself, which takes `load_cycles`. */
    uint16_t used_distance;
    uint8_t used_line;
    uint8_t used_really;    /* enum used_really */
    uint8_t prefetch_lines; /* lines that its access makes prefetchers propose for the L1D, as far as they count */
    /* Its line was on its way in the real run, by a prefetch: the arrival at this distance. If the L2 is perfect for
     * data and the L1D is not, it waits for this arrival; `load_cycles` or `drain_cycles` do not count. */
    uint16_t late_distance;
    /* Lines that its access makes prefetchers request for the L1D take two numbers among arrivals: the request and the
     * arrival. They may wait for a line that the L2 gets with an arrival, at this distance before theirs. */
    uint16_t prefetch_second_distance;
    /* In the variants of `fetch_awaits`, its line comes with the arrival of that many arrivals of instruction lines
     * before the next. */
    uint16_t fetch_distance;
    /* With `fetch_uses`, it requests its line (fetch_demand) only if the prefetch that it waits for found no MSHR; the
     * line is number `fetch_line` of the prefetched ones. */
    uint8_t fetch_line;
    bool fetch_uses;
    uint8_t fetch_awaits, fetch_requests, fetch_proposes; /* bit v: in enum fetch_variant v */
    uint8_t fetch_prefetch_lines; /* lines that it makes the prefetcher propose, as far as they count */
    /* The L2 has its line, the one that it requests, or the prefetched lines, if no data is in the L2: bit v, in enum
     * fetch_variant v. */
    uint8_t second_alone, demand_second_alone, prefetch_second_alone;
    struct wrong_edge wrong_line[WRONG_REQUESTS]; /* with real prediction: how wrong paths request its line */
    uint16_t wrong_beyond[FETCH_VARIANTS];        /* cycles that the line takes beyond the L2 */
    bool data_alone;       /* the L2 has the line of its data, if no instructions are in the L2 */
    bool fetch_prefetches; /* its fetch makes the prefetcher request lines: an arrival of instruction lines */
    uint8_t requests;      /* bit v: it requests a line in prediction v, which takes an MSHR */
    bool arrives;          /* its data may be what others wait for: it has a number among arrivals */
    /* NODE_MISPREDICTED, on cores with few MSHRs for instruction lines: requests of its wrong path, in order. */
    uint8_t wrong_requests;
    struct wrong_fetch wrong_fetch[WRONG_PATH_REQUESTS]; /* `wrong_requests` of them are set */
};

/* Which variant of fetch groups a set has: groups end at misses of the L1I and of the I-TLB and at mispredictions, if
 * these are real. */
enum { GROUP_L1I = 1, GROUP_BRANCH = 2, GROUP_ITLB = 4, GROUP_VARIANTS = 8 };

static inline unsigned group_variant(unsigned real)
{
    return (real & GRAPH_L1I ? GROUP_L1I : 0) | (real & GRAPH_BRANCH ? GROUP_BRANCH : 0) |
           (real & GRAPH_ITLB ? GROUP_ITLB : 0);
}

/* How many numbers among arrivals a node takes. */
static inline unsigned node_arrivals(const struct graph_node *n)
{
    return n->arrives + (n->second_prefetch_cycles != 0) + 2 * (n->prefetch_cycles != 0);
}

static inline unsigned longer_cycles(const uint16_t cycles[PREDICTIONS])
{
    return cycles[0] > cycles[1] ? cycles[0] : cycles[1];
}

static inline unsigned longest_fetch(const uint16_t cycles[FETCH_VARIANTS])
{
    unsigned both = longer_cycles(cycles);
    return both > cycles[FETCH_EARLY] ? both : cycles[FETCH_EARLY];
}

static inline unsigned wrong_edge_cycles(const struct wrong_edge *w)
{
    return w->cycles + w->lines + w->second_lines + w->walks + w->room;
}

/* From the fetch of a mispredicted branch until a line arrives that its wrong path requests, beyond the L2. */
static inline unsigned node_wrong_cycles(const struct graph_node *n)
{
    const struct wrong_edge *w = n->wrong_line;
    if (!w[0].distance)
        return 0;
    unsigned first = wrong_edge_cycles(&w[0]), second = wrong_edge_cycles(&w[1]);
    return (first > second ? first : second) + n->wrong_beyond[FETCH_REAL];
}

/* How long the lines take beyond the L2 that its wrong path requests, one after the other. */
static inline unsigned node_made_cycles(const struct graph_node *n)
{
    unsigned cycles = 0;
    for (unsigned k = 0; k < n->wrong_requests; k++)
        cycles += n->wrong_fetch[k].beyond;
    return cycles;
}

/* The sum of all edges that have a length of their own. */
static inline unsigned node_cycles(const struct graph_node *n)
{
    if (!(n->rare[0] | n->rare[1] | n->rare[2] | n->rare[3] | n->rare[4] | n->wrong_line[0].distance |
          n->wrong_requests))
        return longer_cycles(n->drain_cycles);
    return n->misfetch_cycles + n->fetch_demand + longest_fetch(n->fetch_demand_second) + n->fetch_prefetch_cycles +
           n->prefetch_cycles + n->second_prefetch_cycles + node_wrong_cycles(n) + node_made_cycles(n) +
           longer_cycles(n->itlb_cycles) + longer_cycles(n->dtlb_cycles) + longest_fetch(n->l1i_cycles) +
           longest_fetch(n->l2i_cycles) + longer_cycles(n->load_cycles) + longer_cycles(n->drain_cycles);
}

void graph_core_init(struct graph_core *c, const struct core_config *k);
void graph_hold(struct held_insn *h, const struct retired_insn *r, uint64_t space); /* `space`: core_place */

/* ---- nodes.c */

struct node_builder;

struct node_builder *node_builder_new(const struct graph_core *c, const struct core_config *config,
                                      struct error *err) MUST_CHECK;
/* The run begins on this core: the hierarchy without wrong paths starts as a copy of the core's. */
void node_builder_begin(struct node_builder *b, struct core *c);
void node_builder_free(struct node_builder *b);
/* The next instruction is fetched when all before it have retired. */
void node_builder_serialize(struct node_builder *b);
/* Makes the node of the next instruction in program order, number `i` of `held`. With bundles it also looks at those
 * that may be in one bundle with it, as far as they have retired. */
void node_build(struct node_builder *b, const struct held_insns *held, uint64_t i, struct graph_node *n);
/* Cuts edges to what times have room for. */
void node_bound_edges(struct graph_node *n, const struct graph_core *c);

/* ---- lanes.c */

struct lanes;

struct lanes *lanes_new(const struct graph_core *c, struct error *err) MUST_CHECK;
void lanes_free(struct lanes *l);
void lanes_evaluate(struct lanes *l, const struct graph_node *n, unsigned count);
/* Evaluates nodes that wait for later ones, with which they may form a bundle. */
void lanes_flush(struct lanes *l);
/* The next instruction is fetched when all before it have retired. They have been flushed. */
void lanes_serialize(struct lanes *l);
/* How many nodes have a commit time. Without bundles these are all. */
uint64_t lanes_known(const struct lanes *l);
/* Commit time of node number `insns` - 1, one of the last `rob_size` that are known, by set; 0 if `insns` is 0. */
void lanes_cycles(const struct lanes *l, uint64_t insns, struct graph_cycles *cycles);

#endif
