/* CPI stacks: where the cycles of a run went, according to several accounting methods at once.
 *
 * A method charges each component with the cycles that were lost to it. The remaining cycles are the base, so the
 * components of a stack always sum to the cycles of the run. Methods observe the core as counter hardware would
 * (core.h), all of them during the same run. They are the rows of method.def: a METHOD accounts for the whole pipeline,
 * a VIEW for one stage of it.
 *
 * With an interval of N instructions, the run is cut at the end of the cycle in which the N-th, 2 N-th ... instruction
 * retires. Cycles belong to the interval in which they passed, even if a method learns only later what they were lost
 * to. The events of naive methods belong to the interval in which the core counts them, a few cycles late. */
#ifndef CYCLESCOPE_STACKS_STACKS_H
#define CYCLESCOPE_STACKS_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/what_if.h"
#include "sim/simulate.h"

/* Components of a stack, from the bottom up. */
enum component {
#define COMPONENT(key, label, parent, mark, color, hatch, stroke, advice) COMPONENT_##key,
#include "stacks/component.def"
#undef COMPONENT
    COMPONENTS
};

/* A row of component.def, which describes the columns. */
struct component_row {
    const char *key, *label;
    enum component parent;
    char mark;
    uint32_t color; /* 0xrrggbb */
    const char *hatch, *stroke;
    const char *advice;
};

extern const struct component_row component_rows[COMPONENTS];

/* Accounting methods and views. */
enum stack_kind {
#define METHOD(name, help) STACK_##name,
#define VIEW(name, help)   STACK_##name,
#include "stacks/method.def"
#undef METHOD
#undef VIEW
    STACK_KINDS
};

struct stack_row {
    const char *name, *help;
    bool view;
};

extern const struct stack_row stack_rows[STACK_KINDS];
int stack_find(const char *name); /* the enum stack_kind with this name, or -1 */

/* Cycles by component, in parts of a cycle (stack_parts). The base can be negative in a naive method and in sfmt, which
 * may charge a cycle twice. Any component of graph can be: a real structure may save cycles of another one. */
struct stack {
    int64_t parts[COMPONENTS];
};

/* Whether stacks of this kind can be computed on this core: 0, or a negative code with the reason. */
int stack_check(const struct core_config *core, enum stack_kind k, struct error *err) MUST_CHECK;

/* The method to show if none is named: graph, which is the most accurate one, or fmt2 on cores that graph refuses. */
enum stack_kind stack_default(const struct core_config *core);

/* How many parts a cycle has in stacks of this kind, on this core. */
uint64_t stack_parts(const struct core_config *core, enum stack_kind k);

/* A stretch of the run, or all of it. */
struct stack_interval {
    uint64_t instructions, cycles;
    /* Cycles with a front-end penalty and a long back-end penalty at the same time: the ROB is full and its head waits
     * for an L2 or D-TLB miss, and a mispredicted branch is in the ROB or an instruction miss is outstanding. */
    uint64_t overlap_cycles;
    struct stack of[STACK_KINDS]; /* all zeros for kinds not in use */
    /* Cycles that the dependence graph predicts, by set of real structures and by what-if; all zeros without
     * STACK_graph. With everything real they should be `cycles`. */
    struct graph_cycles graph;
};

/* The stack of kind k, rounded to whole cycles that sum to the interval's cycles. */
void stack_cycles(const struct stack_interval *s, const struct core_config *core, enum stack_kind k,
                  int64_t cycles[COMPONENTS]);

/* Cycles that the dependence graph predicts for a set of real structures, with bit c for the structure of component c.
 * 0 without STACK_graph. */
uint64_t stack_graph_cycles(const struct stack_interval *s, unsigned real);

/* By how much the cycles that the graph predicts with everything real differ from those of the core, in percent; and
 * whether that is so much that the graph has missed something, and its stack should not be used. */
double stack_graph_error(const struct stack_interval *s);
bool stack_graph_is_off(const struct stack_interval *s);

/* The cycles of what-if number i: those of the run, changed by as much as those that the graph predicts change. */
double stack_what_if_cycles(const struct stack_interval *s, unsigned i);

struct accounting;

/* Accounts for one run on this core by all methods and views k with bit k of `kinds` set, in intervals of
 * interval_insns instructions (0: a single one). NULL with an error if out of memory. */
struct accounting *accounting_new(const struct core_config *core, unsigned kinds, uint64_t interval_insns,
                                  struct error *err) MUST_CHECK;
/* Lets the method graph, which is one of `kinds`, evaluate these what-ifs as well. Before the run. */
int accounting_add_what_ifs(struct accounting *a, const struct what_ifs *w, struct error *err) MUST_CHECK;
/* Lets the method graph, which is one of `kinds`, split the base (base_split.h). Before the run. */
int accounting_split_base(struct accounting *a, struct error *err) MUST_CHECK;
void accounting_free(struct accounting *a);

const struct core_observer *accounting_observer(struct accounting *a); /* becomes simulation.observer */
/* Becomes simulation.warmup_observer. */
const struct core_observer *accounting_warmup_observer(struct accounting *a);
const struct simulation_sum *accounting_sum(struct accounting *a); /* becomes simulation.sum */

/* ---- results, after the simulation has returned; they belong to the accounting */

uint64_t accounting_parts(const struct accounting *a, enum stack_kind k);  /* stack_parts on the core of the run */
const struct stack_interval *accounting_total(const struct accounting *a); /* whole run, forked processes included */
/* The intervals of the process itself in order, without those of processes that it forked. The last may be short. */
const struct stack_interval *accounting_series(const struct accounting *a, size_t *count);

#endif
