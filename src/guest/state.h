/* Saves the state of a process to a checkpoint and loads it, as a sequence of fields (base/fields.h).
 *
 * A process is saved between two instructions, after the engine has handed back its trap. The state contains everything
 * that the guest could observe: the registers of all threads and the events that they wait for, memory, mappings,
 * descriptors with their offsets, signals, timers, the clock, the random generator, and what the guest has changed in
 * an overlaid sysroot. The contents of other files are not saved. Files are recorded by path, size and time of
 * modification, and are opened again at load.
 *
 * State that depends on other processes or on the host's kernel cannot be saved; process_save fails with a message.
 * That is: children, pipes, sockets, files without a name, locks, the host's clock. Standard input, output and error
 * are those of the process that loads the checkpoint, except a standard input that is a plain file: that file is opened
 * again at its offset.
 *
 * Loaded data is not trusted: process_load fails, or returns a process that satisfies all invariants. */
#ifndef CYCLESCOPE_GUEST_STATE_H
#define CYCLESCOPE_GUEST_STATE_H

#include "base/fields.h"
#include "guest/process.h"

/* Returns 0, or a negative errno with a message in `err`. Does not change the process, which may continue to run. */
int process_save(struct process *p, struct fields *to, struct error *err) MUST_CHECK;
/* `config` is as for process_new, but its program is not loaded. Replaces all descriptors below FD_PRIVATE, including
 * the caller's, by those of the guest. NULL with a message in `err` if it fails; some descriptors are closed then. */
struct process *process_load(const struct process_config *config, struct fields *from, struct error *err) MUST_CHECK;

#endif
