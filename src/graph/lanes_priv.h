/* The state of the evaluation of nodes for all sets of real structures at once. lanes.c takes an instruction through
 * the pipeline, with lanes_memory.c for accesses to data; lanes_state.c has setup and the bases of times.
 *
 * A row has one number per lane: a time of one instruction in each set. lanes_layout.h says which set a lane has.
 *
 * A time is 16 bits wide, or 32 bits where there is one lane, relative to a base that each lane has of its own. The
 * base moves on now and then: times that lie far in the past become TIME_LEAST, which is right as long as nothing
 * begins there that ends after later times. `slack` bounds how far times can have grown since the last check, so that
 * they never overflow.
 *
 * Loops over lanes are written for the compiler's vectorizer: rows are arrays of a fixed length, pointers are restrict,
 * and cases that need other loops are decided once per instruction. A loop takes a row through several stages where it
 * can: a row that is read soon after it was written costs more than the operations on it. */
#ifndef CYCLESCOPE_GRAPH_LANES_PRIV_H
#define CYCLESCOPE_GRAPH_LANES_PRIV_H

#include "graph/contention.h"
#include "graph/lanes_layout.h"

/* gcc only: clang refuses clones of a function that an inline function of a header calls. */
#if defined(FOR_EACH_HOST)
#elif defined(__x86_64__) && !defined(CYCLESCOPE_SANITIZE) && !defined(__clang__)
#define FOR_EACH_HOST __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define FOR_EACH_HOST
#endif
#define INLINE static inline __attribute__((always_inline))

enum {
    TIME_LEAST = LANE_TIME_LEAST,
    TIME_START = -4000, /* commit time of a lane after its base has moved */
    TIME_MOST = 14000,  /* commit time from which the base moves */
    SLACK_MOST = 15000, /* growth of times without a check */
    DECODED = 32,       /* rows of front-end exits that are kept */
    DISPATCH_MOST = 16, /* instructions that dispatch in a cycle */
    COMMIT_MOST = 16,   /* instructions that retire in a cycle */
    REGISTERS = 64
};

struct row {
    _Alignas(ROW_ALIGNMENT) lane_time lane[LANES];
};

/* What judges have found out about one instruction: one number each. */
struct verdict {
    uint16_t of[JUDGES];
    uint16_t any; /* all of them, or'ed */
};

struct lanes {
    struct graph_core core;
    struct contention_limits limits;
    uint64_t base[LANES];       /* added to times of a lane */
    uint8_t judge_lane[JUDGES]; /* lane of each judge */
    /* By judge_at: its base less 0x8000; `queues` and `now` of its struct contention. A single judge uses those. */
    _Alignas(64) uint64_t judge_base[JUDGES], queues[JUDGES], now[JUDGES];
    unsigned queue_room[QUEUES + 1];  /* instructions that may enter until a judge may lack room, by queue and of all */
    uint64_t entered;                 /* what those add to `queues` that have entered since */
    uint16_t judging;                 /* bit j: judge j takes part in this step */
    struct contention_wait *waits;    /* by judge, of a store: for those that do not */
    struct bundles *bundles;          /* of cores that have them, or NULL */
    uint64_t insns;                   /* nodes evaluated */
    uint32_t stores, arrivals, walks; /* stores, arrivals and walks so far */
    uint32_t dispatch_mask, issue_mask, commit_mask, store_mask; /* rows of the rings - 1 */
    unsigned slack;                                              /* how far times may have grown since the last check */
    bool after_mispredicted, after_serial;
    uint32_t wrong_paths;                       /* mispredicted instructions that have been fetched so far */
    struct row wrong_since[GRAPH_WRONG_PATHS];  /* ring: when each of the last ones was fetched */
    struct row wrong_length[GRAPH_WRONG_PATHS]; /* cycles from then until it resolved */
    struct row wrong_kept[GRAPH_WRONG_PATHS];   /* bit k: in this lane, its wrong path made request k */
    struct row wrong_arrival[GRAPH_WRONG_PATHS][WRONG_PATH_REQUESTS]; /* when its line arrives */
    struct row fetched;                                               /* of the last instruction */
    struct row result;                                                /* its completion */
    struct row known;                                                 /* addresses of all stores are known */
    struct row access, leave;                /* last access of the store buffer to the cache; last store that left it */
    struct row never;                        /* TIME_LEAST */
    struct row unused;                       /* results without a register */
    struct row l1i, l2i, itlb, dtlb, branch; /* masks: -1 in lanes in which the structure is real */
    struct row keeps_mshrs[FETCH_VARIANTS];  /* masks: lanes of the variant with a real L1I, which keep its MSHRs */
    struct row late_front; /* mask: lanes that use the delays of the judge with real instruction caches */
    struct row new_group[1 << GROUP_VARIANTS];      /* by node.new_group: 1 in lanes in which a fetch group begins */
    struct row reg[REGISTERS];                      /* completion of the youngest producer; reg[0] is `never` */
    struct row decoded[DECODED];                    /* exit of the front end, by instruction */
    struct row *data, *left;                        /* rings, by store: its data is known; it leaves the store buffer */
    uint32_t fetch_arrivals;                        /* arrivals of instruction lines so far */
    struct row fetch_arrival[GRAPH_FETCH_ARRIVALS]; /* ring, by arrival of instruction lines */
    struct row fetch_made[GRAPH_FETCH_ARRIVALS];    /* how many of its lines found an MSHR */
    struct row fetch_mshr[FETCH_MSHRS_MOST];        /* when each of few MSHRs for instruction lines is free, in order */
    struct row fetch_bus;                           /* when the last instruction line came from memory */
    unsigned wrong_requests;                        /* of the last mispredicted instruction, as in its node */
    struct wrong_fetch wrong_fetch[WRONG_PATH_REQUESTS];
    struct row arrival[GRAPH_ARRIVALS];            /* ring, by arrival */
    uint16_t made[GRAPH_ARRIVALS][PREFETCH_LINES]; /* by arrival and line, bit j: in judge j the prefetch had an MSHR */
    struct row walked[GRAPH_WALKS];                /* ring, by walk: the translation is known */
    struct row *dispatched, *issued, *committed;   /* rings, by instruction */
    struct contention judge[JUDGES];
};

#define ALL_LANES(i) for (unsigned i = 0; i < LANES; i++)

INLINE lane_time later(lane_time a, lane_time b)
{
    return a > b ? a : b;
}

INLINE lane_time after(lane_time time, int cycles)
{
    return (lane_time)(time + cycles);
}

/* ---- rows by number */

INLINE struct row *dispatched_at(const struct lanes *l, uint64_t insn)
{
    return &l->dispatched[insn & l->dispatch_mask];
}

INLINE struct row *issued_at(const struct lanes *l, uint64_t insn)
{
    return &l->issued[insn & l->issue_mask];
}

INLINE struct row *committed_at(const struct lanes *l, uint64_t insn)
{
    return &l->committed[insn & l->commit_mask];
}

INLINE struct row *decoded_at(struct lanes *l, uint64_t insn)
{
    return &l->decoded[insn % DECODED];
}

/* The row of the instruction `distance` back; `never` if that is 0 or NO_LIMIT, or there is none. */
INLINE const struct row *dispatched_before(const struct lanes *l, unsigned distance)
{
    return distance <= l->insns && layout_has_limit(distance) ? dispatched_at(l, l->insns - distance) : &l->never;
}

INLINE const struct row *issued_before(const struct lanes *l, unsigned distance)
{
    return distance && distance <= l->insns ? issued_at(l, l->insns - distance) : &l->never;
}

INLINE const struct row *committed_before(const struct lanes *l, unsigned distance)
{
    bool is_known = distance && distance <= l->insns && layout_has_limit(distance);
    return is_known ? committed_at(l, l->insns - distance) : &l->never;
}

INLINE uint64_t time_of(const struct lanes *l, const struct row *r, unsigned lane)
{
    return l->base[lane] + (uint64_t)(int64_t)r->lane[lane];
}

/* ---- groups */

INLINE unsigned prediction_of(const struct lanes *l, unsigned group)
{
    return layout_prediction(&l->core, group);
}

/* How many data caches are real in the lanes of a group. */
INLINE unsigned caches_of(const struct lanes *l, unsigned group)
{
    return layout_caches(&l->core, group);
}

/* The enum fetch_variant of a group. */
INLINE unsigned fetch_variant_of(const struct lanes *l, unsigned group)
{
    if (prediction_of(l, group) == PREDICTION_PERFECT)
        return FETCH_PERFECT;
    return caches_of(l, group) == DATA_CACHES - 1 ? FETCH_REAL : FETCH_EARLY;
}

/* ---- lanes.c */

/* Instruction number `insn` is fetched and passes the front end. The instruction before it has been fetched; it has
 * completed if it was mispredicted, and committed if it serializes. */
void lanes_fetch(struct lanes *l, const struct graph_node *n, uint64_t insn);
/* The instruction that is next dispatches at the times in `d`, or later if its queue is full. It issues and completes:
 * l->result. */
void lanes_execute(struct lanes *l, const struct graph_node *n, struct row *d);
/* How much later than all times before it the times of this node may be, without contention. */
INLINE unsigned lanes_growth(const struct graph_core *c, const struct graph_node *n)
{
    enum { STEPS = 8 }; /* single cycles between the stages */
    unsigned fetch = c->front_stages + (n->fetch_prefetches || n->fetch_demand ? c->fetch_latency : 0);
    unsigned line = c->latency[LEVEL_L2] + c->fetch_latency + c->bus_cycles; /* less what it takes beyond the L2 */
    fetch += n->wrong_line[0].distance ? line : 0;
    fetch += n->wrong_requests * line + (n->fetch_prefetches || n->fetch_demand ? 2 * c->bus_cycles : 0);
    unsigned result = c->latency[LEVEL_L1] + c->forward_latency + c->timing[n->class].latency;
    return node_cycles(n) + fetch + result + STEPS;
}

/* ---- lanes_state.c */

void lanes_move_bases(struct lanes *l);             /* moves the base of each lane towards its commit time */
lane_time lanes_latest_time(const struct lanes *l); /* of all lanes */

#endif
