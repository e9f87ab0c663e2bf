/* Stall phases of a program: stretches of intervals with similar stalls.
 *
 * Each interval is a vector: the logarithm of its CPI, and the shares of completion and of each source in its cycles.
 * The series is divided where the sum of squared distances from the means of the pieces is smallest; intervals are
 * weighted by their instructions. A further piece must reduce this sum by more than 8 ln n times the noise, n being the
 * number of intervals. The noise is half the mean square of the step from one interval to the next, without the few
 * largest steps, and at least that of steps of 2 %. So behavior that alternates from interval to interval is one phase,
 * and noise in proportion to CPI does not make phases.
 *
 * Limits: at most PHASES_MOST phases, each with at least 1/50 of the instructions. In long series neighboring intervals
 * are joined first, so the border of a phase is known to 1/256 of the run. */
#ifndef CYCLESCOPE_SAMPLER_STALLS_PHASES_H
#define CYCLESCOPE_SAMPLER_STALLS_PHASES_H

#include "sampler/stalls.h"

enum { PHASES_MOST = 8 };

struct stall_phase {
    size_t first, count;       /* its intervals in the series */
    struct stall_interval sum; /* sum of these; first_insn and first_cycle are the start of the phase */
};

/* Returns the number of phases: 0 for an empty series, 1 if memory runs out. */
size_t stall_phases_find(const struct stall_series *s, struct stall_phase to[PHASES_MOST]);

/* The source with most cycles. STALL_SOURCES: the interval has no stalls. */
enum stall_source stall_largest(const struct stall_interval *i);

#endif
