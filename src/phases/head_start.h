/* A head start: while a copy of the process counts the instructions of the run, another one begins to warm.
 *
 * The first stretch of a pass begins at the start of the run, however long that is. So a copy can warm it, count in its
 * units and save warm states before the windows are known. The pass goes on from the last state; windows that lie
 * before it are measured from the other ones. That changes no result, since a saved state is that of uninterrupted
 * warming. */
#ifndef CYCLESCOPE_PHASES_HEAD_START_H
#define CYCLESCOPE_PHASES_HEAD_START_H

#include "phases/pass.h"

struct head_start;

/* Forks the copy, which warms from the start of the run, counts in units of `unit_insns` instructions from `head` on,
 * and saves states as stretch 0. NULL: it could not be forked. */
struct head_start *head_start_begin(struct process *p, const struct simulation *s, uint64_t head, uint64_t unit_insns,
                                    struct saved_states *save);
/* Ends the copy after the current unit, and returns the number of complete units. */
size_t head_start_end(struct head_start *h);
/* What warming counted in the units. */
const uint64_t (*head_start_units(const struct head_start *h))[WARM_COUNTS];
/* Kills the copy if it still runs. */
void head_start_free(struct head_start *h); /* may be NULL */

#endif
