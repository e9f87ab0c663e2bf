/* All that a process is, as fields: what the checkpoints are made of.
 *
 * A process is saved between two instructions, when the engine has handed back its trap. Everything that the guest
 * could notice goes with it: registers of all threads and what they wait for, memory, mappings, descriptors with their
 * offsets, signals, timers, the clock, random numbers. Files stay where they are: they are named by path, with size and
 * time of their last change, and opened again.
 *
 * What has its other half elsewhere cannot be saved and is refused with a sentence: children, pipes, sockets, files
 * without a name, locks, the host's clock. Standard input, output and error are the caller's, now and later, except for
 * an input that is a plain file, which goes on where it was.
 *
 * Nothing that is loaded is trusted: it is an error, or a process whose invariants hold. */
#ifndef CYCLESCOPE_GUEST_STATE_H
#define CYCLESCOPE_GUEST_STATE_H

#include "base/fields.h"
#include "guest/process.h"

/* 0, or a negative errno and a sentence. The process is as it was, and may go on. */
int process_save(struct process *p, struct fields *to, struct error *err) MUST_CHECK;
/* Closes all descriptors below FD_PRIVATE that the guest did not have, which include the caller's. NULL and a sentence
 * if it fails, with some of them closed. `config` is as for process_new; its program is not loaded. */
struct process *process_load(const struct process_config *config, struct fields *from, struct error *err) MUST_CHECK;

#endif
