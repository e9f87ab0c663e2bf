/* Whether a run is balanced, as interval analysis takes for granted: when nothing misses, the core dispatches at its
 * width. Then the base is 1/width cycles per instruction, and what the window hides is small. Where dependences or
 * units keep the core below its width, bubbles of the front end are hidden and waits are charged to branches, which the
 * methods fmt and fmt2 cannot see. docs/MODEL.md has their errors below and above the limit. */
#ifndef CYCLESCOPE_STACKS_BALANCE_H
#define CYCLESCOPE_STACKS_BALANCE_H

#include "stacks/stacks.h"

/* A base, in multiples of 1/width, above which a run is not balanced. */
#define BALANCE_LIMIT 1.4

/* The base of the run, units included, in multiples of 1/width: 1 if the core dispatches at its width. By fmt2, which
 * the interval must have: the base of fmt is too small where another structure than the ROB fills up. */
double balance_base(const struct stack_interval *s, const struct core_config *core);

#endif
