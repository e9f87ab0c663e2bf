/* Two observers of one core: who asked to observe it, and firmware's counters. Each is told what it has a function for.
 */
#include "core/core_priv.h"

enum { OBSERVERS = 2 };

static const struct core_observer *observer_at(const struct core *c, unsigned i)
{
    return i == 0 ? &c->asked : machine_observer(c);
}

#define TELL(what, ...)                                                                                                \
    do {                                                                                                               \
        for (unsigned i = 0; i < OBSERVERS; i++) {                                                                     \
            const struct core_observer *o = observer_at(context, i);                                                   \
            if (o->what)                                                                                               \
                o->what(o->context, __VA_ARGS__);                                                                      \
        }                                                                                                              \
    } while (0)

static void tell_cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    TELL(cycles, r, n);
}

#define TELL_OF_INSN(what)                                                                                             \
    static void tell_##what(void *context, const struct insn_view *v, uint64_t cycle)                                  \
    {                                                                                                                  \
        TELL(what, v, cycle);                                                                                          \
    }
TELL_OF_INSN(fetched)
TELL_OF_INSN(dispatched)
TELL_OF_INSN(issued)
TELL_OF_INSN(executed)
TELL_OF_INSN(mispredicted)
TELL_OF_INSN(completed)
TELL_OF_INSN(committed)
TELL_OF_INSN(squashed)
#undef TELL_OF_INSN

/* ---- what only the one who asked is told */

static void tell_runs(void *context, const struct hart *h)
{
    const struct core *c = context;
    c->asked.runs(c->asked.context, h);
}

static void tell_transferred(void *context, const struct hart *h, const struct core_transfer *t)
{
    const struct core *c = context;
    c->asked.transferred(c->asked.context, h, t);
}

static void tell_reached(void *context, unsigned watch, uint64_t cycle)
{
    const struct core *c = context;
    c->asked.reached(c->asked.context, watch, cycle);
}

#define ONE_OF(what) (c->asked.what || m->what ? tell_##what : NULL)

/* Only what both agree on is left out. */
static enum strides_told strides_of_both(const struct core_observer *a, const struct core_observer *b)
{
    if (a->strides == STRIDES_UNTOLD && b->strides == STRIDES_UNTOLD)
        return STRIDES_UNTOLD;
    bool more = (core_observes_insns(a) && a->strides != STRIDES_ONLY) ||
                (core_observes_insns(b) && b->strides != STRIDES_ONLY);
    return more ? STRIDES_TOLD : STRIDES_ONLY;
}

void observers_join(struct core *c)
{
    const struct core_observer *m = machine_observer(c);
    if (m->cycles == NULL && !m->each_cycle && !core_observes_insns(m)) {
        c->observer = c->asked;
        return;
    }
    c->observer = (struct core_observer){.runs = c->asked.runs ? tell_runs : NULL,
                                         .cycles = ONE_OF(cycles),
                                         .fetched = ONE_OF(fetched),
                                         .dispatched = ONE_OF(dispatched),
                                         .issued = ONE_OF(issued),
                                         .executed = ONE_OF(executed),
                                         .mispredicted = ONE_OF(mispredicted),
                                         .completed = ONE_OF(completed),
                                         .committed = ONE_OF(committed),
                                         .squashed = ONE_OF(squashed),
                                         .transferred = c->asked.transferred ? tell_transferred : NULL,
                                         .reached = c->asked.reached ? tell_reached : NULL,
                                         .context = c,
                                         .tag = c->asked.tag,
                                         .observed = core_observes_insns(m) ? OBSERVE_ALL : c->asked.observed,
                                         .each_cycle = c->asked.each_cycle || m->each_cycle};
    c->observer.strides = strides_of_both(&c->asked, m);
}
