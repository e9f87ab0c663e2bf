/* The dependence graph of a run: what it would have taken on cores with other sets of perfect structures.
 *
 * Execution on an out-of-order core is a graph (Fields, Bodik, Hill, Newburn: Using interaction cost for
 * microarchitectural bottleneck analysis, 2003). Each instruction that retires has four nodes: fetch, dispatch, issue,
 * and commit. Edges are what a node has to wait for: order and width of each stage, operands, room in queues and
 * buffers, resolution of mispredicted branches, addresses of older stores, lines that other instructions bring. The
 * latency of an edge is a sum of parts, and a part may have a cause: a miss or a misprediction. A structure is perfect
 * if the parts that it causes are left out. The longest path is then the time that a core with this perfect structure
 * takes.
 *
 * The graph is evaluated for all GRAPH_SETS sets of real structures at once, while the core runs: the instruction that
 * retires takes its times from those of instructions before it. Units, issue slots and issue queues, for which many
 * instructions compete in one cycle, are evaluated for a few sets only (contention.h); sets that are similar use their
 * delays.
 *
 * Perfect prediction also changes what caches contain, since nothing comes in from wrong paths. A second memory
 * hierarchy, which only instructions that retire access, says which accesses miss in that case.
 *
 * Prefetchers propose the same lines in all sets; whether a proposal finds an MSHR depends on the set. Wrong paths also
 * take MSHRs for instruction lines, where branches resolve early (enum fetch_variant).
 *
 * Limits: instructions of the wrong path compete for nothing, except that they may leave a unit busy that is not
 * pipelined, for as long as in the real run. Stores lose no data ports to younger loads. Queueing of data for the bus
 * and for lower levels is that of the real run, and so are mispredictions, although predictors learn earlier in faster
 * sets. Contention is judged with real TLBs. Only out-of-order cores have a graph. */
#ifndef CYCLESCOPE_GRAPH_GRAPH_H
#define CYCLESCOPE_GRAPH_GRAPH_H

#include "core/core.h"

/* Structures that are real or perfect. A set of real structures is a bit mask of these. */
enum graph_structure {
    GRAPH_L1I = 1,
    GRAPH_L2I = 2,
    GRAPH_ITLB = 4,
    GRAPH_BRANCH = 8,
    GRAPH_L1D = 16,
    GRAPH_L2D = 32,
    GRAPH_DTLB = 64,
    GRAPH_EVERYTHING = 127
};

/* Sets that can occur: the second cache of a side is real only with the first. */
enum { GRAPH_SETS = 72 };

/* Whether this set can occur. */
static inline bool graph_has_set(unsigned real)
{
    bool front = !(real & GRAPH_L2I) || real & GRAPH_L1I;
    bool back = !(real & GRAPH_L2D) || real & GRAPH_L1D;
    return front && back && real <= GRAPH_EVERYTHING;
}

/* Most what-ifs (what_if.h) of a run. */
enum { GRAPH_WHAT_IFS = 32 };

/* What limits a core on which nothing misses, as bits. */
enum graph_limit_number {
#define LIMIT(key, label, help) LIMIT_NUMBER_##key,
#include "graph/limit.def"
#undef LIMIT
    GRAPH_LIMITS
};

enum graph_limit {
#define LIMIT(key, label, help) LIMIT_##key = 1 << LIMIT_NUMBER_##key,
#include "graph/limit.def"
#undef LIMIT
    GRAPH_LIMIT_SETS = 1 << GRAPH_LIMITS
};

/* Whether the base is evaluated with these limits real: no limit, or some with the width among them. */
static inline bool graph_has_limits(unsigned limits)
{
    return limits == 0 || limits & LIMIT_width;
}

/* Cycles by set of real structures, 0 for sets that cannot occur; of what-ifs, 0 for those that there are not; and with
 * all structures perfect, by set of real limits, 0 for sets that are not evaluated and without graph_split_base. */
struct graph_cycles {
    uint64_t with[GRAPH_EVERYTHING + 1];
    uint64_t what_if[GRAPH_WHAT_IFS];
    uint64_t base[GRAPH_LIMIT_SETS];
};

struct graph;
struct what_if;

/* Whether cores of this configuration have a graph: 0, or a negative code with the reason. */
int graph_check(const struct core_config *core, struct error *err) MUST_CHECK;

/* Called when the graph has been evaluated up to a mark: `cycles` have passed since the mark before. */
typedef void graph_mark_reached(void *context, const struct graph_cycles *cycles);

/* Makes the graph of a run on this core, which passes graph_check. */
struct graph *graph_new(const struct core_config *core, graph_mark_reached *reached, void *context,
                        struct error *err) MUST_CHECK;
void graph_free(struct graph *g);
/* Evaluates a what-if as well (what_if.h), with the next free number of graph_cycles.what_if. Before graph_begin. */
int graph_add_what_if(struct graph *g, const struct what_if *w, struct error *err) MUST_CHECK;
/* Also finds graph_cycles.base. Before graph_begin. */
int graph_split_base(struct graph *g, struct error *err) MUST_CHECK;

/* ---- calls of an observer of the core, in the order of time */

/* The core begins to run with nothing in flight. */
void graph_begin(struct graph *g, struct core *c);
void graph_retired(struct graph *g, const struct retired_insn *r);
void graph_drained(struct graph *g, uint32_t store, const struct data_access *a);
/* Evaluates the first `insns` instructions since the graph began, as far as their stores have reached the cache. Call
 * it every few hundred instructions. */
void graph_advance(struct graph *g, uint64_t insns);
/* Puts a mark behind the first `insns` instructions. Marks come in order, and none lies before an instruction that has
 * been evaluated. `reached` is called for each, in order, in this call or a later one. */
void graph_mark(struct graph *g, uint64_t insns);
/* Evaluates everything up to the instruction that retired last. Stores that have not reached the cache yet count as
 * hits. */
void graph_finish(struct graph *g);
/* Nothing is in flight. Evaluates everything and drops all marks that have not been reached: cycles count from here. */
void graph_restart(struct graph *g);

#endif
