/* The phases of a program: stretches in which its stalls stay much the same.
 *
 * A series of intervals, each a vector of the logarithm of its CPI and the shares of completion and sources, is cut
 * where that makes the squares of the distances from the means of the pieces smallest; intervals weigh as many as their
 * instructions. There are as many pieces as pay: each must save more than 8 ln n times the noise, which is half the
 * mean square of the step from one interval to the next, the few largest left out, and at least that of steps of 2 %.
 * So what alternates from interval to interval is one phase, and noise that grows with CPI makes none.
 *
 * Limits: at most PHASES_MOST, of at least 1/50 of the instructions each. Of long series neighbours are joined first: a
 * border is found to 1/256 of the run. */
#ifndef CYCLESCOPE_MONITOR_STALLS_PHASES_H
#define CYCLESCOPE_MONITOR_STALLS_PHASES_H

#include "monitor/stalls.h"

enum { PHASES_MOST = 8 };

struct stall_phase {
    size_t first, count;       /* of its intervals */
    struct stall_interval sum; /* of them; first_insn and first_cycle are where it begins */
};

/* How many there are: 0 for an empty series, 1 if there is no memory to look for more. */
size_t stall_phases_find(const struct stall_series *s, struct stall_phase to[PHASES_MOST]);

/* The source with most cycles, or STALL_SOURCES if there is no stall at all. */
enum stall_source stall_largest(const struct stall_interval *i);

#endif
