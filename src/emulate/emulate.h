/* Runs a process to its end on a functional engine. */
#ifndef CYCLESCOPE_EMULATE_EMULATE_H
#define CYCLESCOPE_EMULATE_EMULATE_H

#include "emulate/engine.h"
#include "guest/process.h"

/* 0 when the process has ended, or a negative code with a message when the engine cannot be created. `hooks` may be
 * NULL. If the guest forks, this returns once in every process (see process_is_child). */
int emulate_process(struct process *p, const struct engine *engine, const struct engine_hooks *hooks,
                    struct error *err) MUST_CHECK;

#endif
