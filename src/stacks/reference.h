/* The reference that accounting methods are judged by: the same program simulated with structures perfect or real.
 *
 * Structures become real one after another; a component is the cycles that its structure adds. With all of them perfect
 * there is only the base, which so includes the stalls of units. The first to become real are the first data cache and
 * the branch predictor, then in one order the instruction side and in the other, the inverse order, the data side. What
 * both orders have in common is simulated once. */
#ifndef CYCLESCOPE_STACKS_REFERENCE_H
#define CYCLESCOPE_STACKS_REFERENCE_H

#include "stacks/stacks.h"

enum { REFERENCE_STEPS = 8 }; /* of an order: all perfect, and seven structures */
enum { REFERENCE_RUNS = 12 }; /* of both orders */
enum { REFERENCE_ORDERS = 2 };

/* One simulation. Run 0 has everything real: it is the one that methods account for. */
struct reference_run {
    unsigned real; /* components whose structures are, one bit each */
};

extern const struct reference_run reference_runs[REFERENCE_RUNS];
extern const char *const reference_names[REFERENCE_ORDERS]; /* simulation, simulation_inverse */

/* The core for a run. What is perfect in it already stays so. */
struct core_config reference_core(const struct core_config *core, const struct reference_run *run);

/* What is real in a run, for messages: `real: branch l1d`, or `all perfect`. */
const char *reference_run_text(const struct reference_run *run, char *text, size_t size);

/* Cycles of the runs, or 0 for a run that failed, as the stack of an order. A component that a failed run leaves
 * unknown is REFERENCE_UNKNOWN. */
#define REFERENCE_UNKNOWN INT64_MIN
void reference_stack(unsigned order, const uint64_t cycles[REFERENCE_RUNS], int64_t stack[COMPONENTS]);

/* The largest error of a method's stack against a reference, in percent of all cycles, and where it is. Components
 * count for their parents, since the reference has no stalls of units. */
struct stack_error {
    double percent;
    enum component component;
    bool known; /* false: nothing could be compared */
};

struct stack_error stack_error(const int64_t stack[COMPONENTS], const int64_t reference[COMPONENTS], uint64_t cycles);

#endif
