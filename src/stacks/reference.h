/* The reference stacks that accounting methods are compared with. The same program is simulated several times, with
 * each structure (cache, TLB, branch predictor) either perfect or real.
 *
 * Structures become real one after another; a component is the number of cycles that its structure adds. With all
 * structures perfect only the base remains, so the base includes the stalls of units. In every order, the second cache
 * of a side becomes real after the first cache, without which no access reaches it. This leaves 1260 orders over 72
 * sets of real structures.
 *
 * A cycle that two structures lose together is charged to one of them: to the one that becomes real first if each would
 * lose the cycle alone, or to the last if only both together lose it. The stack of an order therefore contains a
 * choice. The mean over all orders contains none, and is the reference unless an order is asked for. It shares such a
 * cycle by the number of orders that charge it to each structure. The shares are even between the predictor and TLBs,
 * but not for caches, since first caches come early and second caches late in most orders. The lowest and the highest
 * value over all orders bound the part of an error that may be due to the choice.
 *
 * Two orders have names. In both, the first data cache and the branch predictor become real first. Then comes the
 * instruction side in the paper's order, and the data side in the inverse order.
 *
 * Limits: making a structure real also changes when others are accessed, hence what they contain and predict. The
 * cycles of such second-order effects are in the components; reference_noise says how many there are at least. */
#ifndef CYCLESCOPE_STACKS_REFERENCE_H
#define CYCLESCOPE_STACKS_REFERENCE_H

#include "stacks/stacks.h"

enum { REFERENCE_STEPS = 8 };     /* runs of an order: all perfect, then seven structures become real */
enum { REFERENCE_ALL_RUNS = 72 }; /* runs of all orders */

/* The orders in which structures become real. */
enum reference_orders { REFERENCE_ALL, REFERENCE_PAPER, REFERENCE_INVERSE };
const char *reference_orders_name(enum reference_orders o);
int reference_orders_find(const char *name); /* the enum reference_orders with this name, or -1 */

/* One simulation. In run 0 of a plan everything is real: methods account for this one. */
struct reference_run {
    unsigned real; /* bit c is set if the structure of component c is real */
};

/* The simulations to run. */
struct reference_plan {
    enum reference_orders orders;
    unsigned count; /* REFERENCE_ALL_RUNS, or REFERENCE_STEPS for a single order */
    struct reference_run run[REFERENCE_ALL_RUNS];
};

/* Cycles by set of real structures: bit c of the index is set if the structure of component c is real. */
enum { REFERENCE_SETS = 1 << COMPONENTS, REFERENCE_WAYS = 1260 /* number of orders */ };

/* Sums over all orders what the structure of each component adds, from the cycles of all sets that occur in some order.
 * shares[COMPONENT_base] is the base times REFERENCE_WAYS, so the shares sum to REFERENCE_WAYS times the cycles with
 * everything real. */
void reference_shares(const int64_t cycles[REFERENCE_SETS], int64_t shares[COMPONENTS]);

void reference_plan_make(struct reference_plan *p, enum reference_orders orders);

/* The configuration of the core for a run. Structures that are perfect in `core` stay perfect. */
struct core_config reference_core(const struct core_config *core, const struct reference_run *run);

/* Writes what is real in a run to `text`, for messages: `real: branch l1d`, or `all perfect`. Returns `text`. */
const char *reference_run_text(const struct reference_run *run, char *text, size_t size);

/* Computes the stack of a single order, which the plan includes, from the cycles of the plan's runs, 0 for a run that
 * failed. A component that depends on a failed run is REFERENCE_UNKNOWN. */
#define REFERENCE_UNKNOWN INT64_MIN
void reference_stack(const struct reference_plan *p, enum reference_orders order,
                     const uint64_t cycles[REFERENCE_ALL_RUNS], int64_t stack[COMPONENTS]);

/* The components over all orders, in whole cycles or REFERENCE_UNKNOWN. Each mean differs from the exact mean by less
 * than one cycle, and the means sum to the cycles with everything real. */
struct reference_range {
    int64_t mean[COMPONENTS], lowest[COMPONENTS], highest[COMPONENTS];
};

/* `p` must be a plan of all orders; `cycles` are those of its runs, 0 for a run that failed. */
void reference_all_orders(const struct reference_plan *p, const uint64_t cycles[REFERENCE_ALL_RUNS],
                          struct reference_range *range);

/* Second-order effects: the most cycles that a structure of the plan saves when it becomes real. Waits that it adds
 * cannot save cycles, so all of these come from other contents of caches and predictors and from another sequence of
 * instructions. Effects that cost cycles, or save less than the waits cost, remain hidden: this is a lower bound. */
struct reference_noise {
    int64_t cycles;           /* 0: no structure saves any */
    enum component component; /* the structure that becomes real; not set if cycles is 0 */
    unsigned real;            /* those that are real before */
};

struct reference_noise reference_noise(const struct reference_plan *p, const uint64_t cycles[REFERENCE_ALL_RUNS]);

/* The largest error of a stack against a reference. Components are added to their parents before the comparison, since
 * the reference has no stalls of units. */
struct stack_error {
    double percent;           /* of all cycles */
    enum component component; /* the component with this error */
    bool known;               /* false: no component could be compared */
};

/* The error of a method's stack against the stack of one order, or the mean. */
struct stack_error stack_error(const int64_t stack[COMPONENTS], const int64_t reference[COMPONENTS], uint64_t cycles);
/* The error against the range from lowest to highest: the part of the error that no choice of an order explains. */
struct stack_error stack_error_outside(const int64_t stack[COMPONENTS], const struct reference_range *range,
                                       uint64_t cycles);

#endif
