/* A process run to its end by a functional engine. */
#ifndef CYCLESCOPE_EMULATE_EMULATE_H
#define CYCLESCOPE_EMULATE_EMULATE_H

#include "emulate/engine.h"
#include "guest/process.h"

/* 0 when the process has ended, or a negative code with a sentence when the engine cannot be made. In a guest that
 * forks this returns once in every process (process_is_child tells). */
int emulate_process(struct process *p, const struct engine *engine, const struct engine_hooks *hooks,
                    struct error *err) MUST_CHECK;

#endif
