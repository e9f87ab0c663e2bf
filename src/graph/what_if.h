/* What-ifs: cores that differ from the one that runs in a few parameters, and whose cycles the dependence graph
 * predicts.
 *
 * A what-if is written as the parameters that it changes: `l2.latency=10`, or several with `+` between them:
 * `rob.size=256+lsq.size=128`. A value is one that the parameter can have, or a change of a number:
 *
 *     +3, -3      more, less
 *     +50%, -50%  the same in percent
 *     x2, x0.5    times
 *
 * Results are rounded to whole numbers. The rows of what_if.def say which parameters can be changed; a name can stand
 * for several of them (`width=+1`).
 *
 * Limits: contents of caches, TLBs and predictors are those of the run, so sizes of these cannot be changed. Neither
 * can be what the graph does not see: prefetchers, the bus, MSHRs of lower caches. */
#ifndef CYCLESCOPE_GRAPH_WHAT_IF_H
#define CYCLESCOPE_GRAPH_WHAT_IF_H

#include <stdbool.h>

#include "core/config.h"
#include "graph/graph.h"

enum { WHAT_IF_TEXT = 200 };

/* What a what-if changes in the graph, as bits: the columns of what_if.def. */
enum what_if_change {
    WHAT_IF_EDGES = 1,
    WHAT_IF_GROUPS = 2,
    WHAT_IF_ROOM = 4,
    WHAT_IF_LATENCIES = 8,
    WHAT_IF_SET = 16
};

struct what_if {
    char text[WHAT_IF_TEXT]; /* as written */
    unsigned changes;        /* bit mask of enum what_if_change */
    struct core_config core; /* the core with the changes */
};

/* The what-ifs of a run, at most GRAPH_WHAT_IFS. */
struct what_ifs {
    struct what_if *of;
    unsigned count;
};

/* Adds the what-ifs of an option `--what-if TEXT`, which are separated by commas, as changes of this core. The core
 * passes graph_check. */
int what_ifs_add(struct what_ifs *w, const struct core_config *core, const char *text, struct error *err) MUST_CHECK;
void what_ifs_free(struct what_ifs *w);

/* A name that what-ifs can change, for lists. */
struct what_if_name {
    char name[96], meaning[160];
};

bool what_if_name(unsigned i, struct what_if_name *n); /* number i of them; false: there are no more */

/* Writes what is different from the core that runs, with values that the parameters get: `l2.latency 9 -> 10`. */
void what_if_describe(const struct what_if *w, const struct core_config *core, char *text, size_t size);

#endif
