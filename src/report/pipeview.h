/* The pipeline as a picture: a log in the Kanata format (version 4), which the viewer Konata shows.
 *
 * Logged are the instructions of a window: those with the numbers [from, from + insns), where the right path's
 * instructions are numbered from 0 on as they are fetched in the measured part, and those of the wrong path that are
 * fetched between the first and the one behind the last. Each goes through the stages
 *
 *     F  fetched, in the front end      Dp  dispatched, waits for issue
 *     Is issued; again after a reject   Cp  complete, waits for commit
 *
 * and ends retired or flushed. Its label has address and instruction, its details what happened to it. Cycles are the
 * core's. A process that the guest forks logs nothing. */
#ifndef CYCLESCOPE_REPORT_PIPEVIEW_H
#define CYCLESCOPE_REPORT_PIPEVIEW_H

#include <stdio.h>

#include "core/core.h"

struct pipeview;

/* The log goes to `to`, which stays the caller's. NULL: out of memory. */
struct pipeview *pipeview_new(FILE *to, uint64_t from, uint64_t insns);
const struct core_observer *pipeview_observer(const struct pipeview *p);
/* What is still in flight ends as flushed. */
void pipeview_finish(struct pipeview *p);
void pipeview_free(struct pipeview *p);

#endif
