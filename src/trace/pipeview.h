/* Pipeline trace: a log in the Kanata format (version 4), which the viewer Konata displays.
 *
 * Right-path instructions are numbered from 0 in the order in which they are fetched in the measured part. The log
 * contains the right-path instructions with numbers in [from, from + insns), and the wrong-path instructions that are
 * fetched after the first of them and before the one behind the last. Each instruction goes through the stages
 *
 *     F  fetched, in the front end      Dp  dispatched, waits for issue
 *     Is issued; again after a reject   Cp  complete, waits for commit
 *
 * and ends retired or flushed. Its label is its address and disassembly; its details list branch outcome, address,
 * misses and other events. Cycles are the core's. A process that the guest forks logs nothing. */
#ifndef CYCLESCOPE_TRACE_PIPEVIEW_H
#define CYCLESCOPE_TRACE_PIPEVIEW_H

#include <stdio.h>

#include "core/core.h"

struct pipeview;

/* Writes the log to `to`, which the caller closes. NULL: out of memory. */
struct pipeview *pipeview_new(FILE *to, uint64_t from, uint64_t insns);
const struct core_observer *pipeview_observer(const struct pipeview *p);
/* Ends the log: instructions that are still in flight end as flushed. */
void pipeview_finish(struct pipeview *p);
void pipeview_free(struct pipeview *p);

#endif
