/* A copy of a process that goes on without a trace: the run itself goes on elsewhere, and must not notice.
 *
 * Files are read through descriptors of its own. What it writes, and every file that it opens for writing, is a copy in
 * memory that it alone sees, under descriptors and memory alike. Calls that change names, owners, modes or times
 * succeed if they could and change nothing. Output to terminals, pipes and sockets goes nowhere; pipes, event counters
 * and epoll sets that the guest has made for itself are made again, with what is in them.
 *
 * Limits: a file that was changed by name (renamed, removed, made) is not seen so by name afterwards, and what the run
 * itself has changed meanwhile is seen changed. Input that only one of the two can have (a terminal, a pipe, a socket)
 * ends it: process_spoiled says why. A process that has others beside it cannot be shadowed. */
#ifndef CYCLESCOPE_GUEST_SHADOW_H
#define CYCLESCOPE_GUEST_SHADOW_H

#include "guest/process.h"

/* In a host process that was just forked, between two instructions of the guest; the process that it was forked from
 * waits meanwhile. 0 or a negative code. */
int process_become_shadow(struct process *p, struct error *err) MUST_CHECK;
const char *process_spoiled(const struct process *p); /* why it could not go on, or NULL */

#endif
