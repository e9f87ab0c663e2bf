#include "emulate/emulate.h"

#include <errno.h>

int emulate_process(struct process *p, const struct engine *engine, const struct engine_hooks *hooks, struct error *err)
{
    struct engine_state *e = engine->create(process_memory(p), err);
    if (e == NULL)
        return -ENOMEM;
    if (hooks)
        engine->set_hooks(e, hooks);
    for (struct thread *t; (t = process_next(p)) != NULL;) {
        engine->run(e, thread_hart(t));
        process_trap(p, t);
    }
    engine->destroy(e);
    return 0;
}
