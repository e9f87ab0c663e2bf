/* Shared by the files of the literal evaluation: its state. */
#ifndef CYCLESCOPE_TESTS_GRAPH_LITERAL_PRIV_H
#define CYCLESCOPE_TESTS_GRAPH_LITERAL_PRIV_H

#include "graph/contention.h"
#include "graph/literal.h"

#define LONG_AGO INT64_MIN / 2

/* What the judge of a set says about one instruction. */
struct verdict {
    uint16_t room; /* distance to the instruction whose issue makes room in the queue; 0: there is room */
    struct contention_wait mshr;
    uint64_t committed_at;        /* with bundles: the instruction whose completion lets its bundle commit */
    bool merges;                  /* it waits for a prefetch, and does not request its line */
    uint16_t issue, retry, again; /* cycles that the first issue, the one after a translation and the last one wait */
};

struct evaluation {
    const struct graph_core *core;
    const struct graph_node *nodes;
    unsigned real;
    bool judges; /* evaluates contention; else takes `verdict` from the set that does */
    struct literal_times *times;
    struct verdict *verdict;
    int64_t reg[64];              /* completion of the youngest producer */
    int64_t known, access, leave; /* addresses of stores known; the store buffer's last access; last one to leave */
    int64_t *data, *left;         /* by number of the store, from 1 */
    int64_t *fetch_arrival;       /* by number of the arrival of instruction lines, from 1 */
    uint8_t *fetch_made;          /* how many of its lines found an MSHR */
    int64_t fetch_mshr[FETCH_MSHRS_MOST]; /* when each MSHR for instruction lines is free, in order */
    int64_t fetch_bus;                    /* when the last instruction line came from memory */
    int64_t *arrival;                     /* by number of the arrival, from 1 */
    uint8_t *made;                        /* by arrival, bit k: the prefetch of line k had an MSHR */
    int64_t *walked;                      /* by number of the walk, from 1: the translation is known */
    uint64_t stores, arrivals, fetch_arrivals, walks;
    uint64_t wrong_paths; /* mispredicted instructions that have been fetched */
    uint64_t *wrong_path; /* which ones they are, from 1 */
    struct wrong_arrivals {
        uint8_t kept; /* bit k: the wrong path made request k */
        int64_t of[WRONG_PATH_REQUESTS];
    } * wrong_arrivals;    /* by instruction: when the lines arrive that its wrong path has requested */
    uint64_t fetched;      /* instructions that have been fetched */
    uint64_t first, end;   /* the bundle that executes: its first instruction, and the one after its last */
    int64_t *freed;        /* commit of each bundle */
    uint64_t bundles;      /* that have committed */
    uint64_t *store_insn;  /* by number of the store: its instruction */
    uint64_t *arrivals_at; /* by instruction: arrivals before it */
    struct contention_limits limits;
    struct contention contention;
};

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline unsigned prediction(const struct evaluation *e)
{
    return e->real & GRAPH_BRANCH ? PREDICTION_REAL : PREDICTION_PERFECT;
}

/* ---- literal_fetch.c */

/* When instruction i is fetched. Those before it have been. */
int64_t literal_fetch(struct evaluation *e, const struct graph_node *n, uint64_t i);

#endif
