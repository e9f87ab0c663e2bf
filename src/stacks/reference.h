/* The reference that accounting methods are judged by: the same program simulated with structures perfect or real.
 *
 * Structures become real one after another; a component is the cycles that its structure adds. With all of them perfect
 * there is only the base, which so includes the stalls of units. The first to become real are the first data cache and
 * the branch predictor, then in one order the instruction side and in the other, the inverse order, the data side. What
 * both orders have in common is simulated once.
 *
 * A cycle that two structures lose together is charged to the one that becomes real first, if each would lose it alone,
 * or last, if it takes both: the figures of an order contain a choice. The mean over all orders does not; it shares
 * such a cycle by the number of orders that charge it to each: evenly between the predictor and TLBs, while first
 * caches come early and second ones late in most orders. The lowest and the highest figures tell how much of an error
 * may be the choice. In all orders the second cache of a side becomes real after the first, without which nothing
 * reaches it: 1260 orders, of 72 sets of real structures. */
#ifndef CYCLESCOPE_STACKS_REFERENCE_H
#define CYCLESCOPE_STACKS_REFERENCE_H

#include "stacks/stacks.h"

enum { REFERENCE_STEPS = 8 }; /* of an order: all perfect, and seven structures */
enum { REFERENCE_ORDERS = 2 };
enum { REFERENCE_RUNS = 12 };     /* of both orders */
enum { REFERENCE_ALL_RUNS = 72 }; /* of all orders */

/* One simulation. Run 0 has everything real: it is the one that methods account for. */
struct reference_run {
    unsigned real; /* components whose structures are, one bit each */
};

/* The simulations to make. Those of the two orders come first, whether or not those of all orders follow. */
struct reference_plan {
    bool all_orders;
    unsigned count; /* REFERENCE_RUNS or REFERENCE_ALL_RUNS */
    struct reference_run run[REFERENCE_ALL_RUNS];
};

void reference_plan_make(struct reference_plan *p, bool all_orders);

/* The core for a run. What is perfect in it already stays so. */
struct core_config reference_core(const struct core_config *core, const struct reference_run *run);

/* What is real in a run, for messages: `real: branch l1d`, or `all perfect`. */
const char *reference_run_text(const struct reference_run *run, char *text, size_t size);

/* Cycles of the runs, or 0 for a run that failed, as the stack of an order. A component that a failed run leaves
 * unknown is REFERENCE_UNKNOWN. */
#define REFERENCE_UNKNOWN INT64_MIN
void reference_stack(unsigned order, const uint64_t cycles[REFERENCE_RUNS], int64_t stack[COMPONENTS]);

/* The same of all orders. The mean is in whole cycles, each within one of the exact mean, which sum to the cycles with
 * everything real. */
struct reference_range {
    int64_t mean[COMPONENTS], lowest[COMPONENTS], highest[COMPONENTS];
};

void reference_all_orders(const struct reference_plan *p, const uint64_t cycles[REFERENCE_ALL_RUNS],
                          struct reference_range *range);

/* The largest error of a method's stack against a reference, in percent of all cycles, and where it is. Components
 * count for their parents, since the reference has no stalls of units. */
struct stack_error {
    double percent;
    enum component component;
    bool known; /* false: nothing could be compared */
};

struct stack_error stack_error(const int64_t stack[COMPONENTS], const int64_t reference[COMPONENTS], uint64_t cycles);
/* The same against the figures from lowest to highest: what no order explains. */
struct stack_error stack_error_outside(const int64_t stack[COMPONENTS], const struct reference_range *range,
                                       uint64_t cycles);

#endif
