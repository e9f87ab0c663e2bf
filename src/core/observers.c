/* Joins two observers of one core: the client's (core_observe) and the one of firmware's counters. Each gets the
 * callbacks that it has functions for. */
#include "core/core_priv.h"

enum { OBSERVERS = 2 };

static const struct core_observer *observer_at(const struct core *c, unsigned i)
{
    return i == 0 ? &c->client_observer : machine_observer(c);
}

/* Calls `what` of both observers, for the core that `context` points to. */
#define NOTIFY(what, ...)                                                                                              \
    do {                                                                                                               \
        for (unsigned i = 0; i < OBSERVERS; i++) {                                                                     \
            const struct core_observer *o = observer_at(context, i);                                                   \
            if (o->what)                                                                                               \
                o->what(o->context, __VA_ARGS__);                                                                      \
        }                                                                                                              \
    } while (0)

static void notify_cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    NOTIFY(cycles, r, n);
}

#define NOTIFY_OF_INSN(what)                                                                                           \
    static void notify_##what(void *context, const struct insn_view *v, uint64_t cycle)                                \
    {                                                                                                                  \
        NOTIFY(what, v, cycle);                                                                                        \
    }
NOTIFY_OF_INSN(fetched)
NOTIFY_OF_INSN(dispatched)
NOTIFY_OF_INSN(issued)
NOTIFY_OF_INSN(executed)
NOTIFY_OF_INSN(mispredicted)
NOTIFY_OF_INSN(completed)
NOTIFY_OF_INSN(committed)
NOTIFY_OF_INSN(squashed)
#undef NOTIFY_OF_INSN

/* ---- callbacks that only the client's observer has */

static void notify_runs(void *context, const struct hart *h)
{
    const struct core *c = context;
    c->client_observer.runs(c->client_observer.context, h);
}

static void notify_transferred(void *context, const struct hart *h, const struct core_transfer *t)
{
    const struct core *c = context;
    c->client_observer.transferred(c->client_observer.context, h, t);
}

static void notify_reached(void *context, unsigned watch, uint64_t cycle)
{
    const struct core *c = context;
    c->client_observer.reached(c->client_observer.context, watch, cycle);
}

static void notify_retired(void *context, const struct retired_insn *r, uint64_t cycle)
{
    const struct core *c = context;
    c->client_observer.retired(c->client_observer.context, r, cycle);
}

static void notify_drained(void *context, uint32_t store, const struct data_access *a, uint64_t cycle)
{
    const struct core *c = context;
    c->client_observer.drained(c->client_observer.context, store, a, cycle);
}

/* The joined callback, if at least one observer has it. */
#define ONE_OF(what) (c->client_observer.what || m->what ? notify_##what : NULL)

/* Returns the stride setting that serves both observers: STRIDES_ONLY only if neither needs other instructions. */
static enum stride_events strides_of_both(const struct core_observer *a, const struct core_observer *b)
{
    if (a->strides == STRIDES_OFF && b->strides == STRIDES_OFF)
        return STRIDES_OFF;
    bool others = (core_observes_insns(a) && a->strides != STRIDES_ONLY) ||
                  (core_observes_insns(b) && b->strides != STRIDES_ONLY);
    return others ? STRIDES_ON : STRIDES_ONLY;
}

void observers_join(struct core *c)
{
    const struct core_observer *m = machine_observer(c);
    if (m->cycles == NULL && !m->each_cycle && !core_observes_insns(m)) {
        c->observer = c->client_observer;
        return;
    }
    c->observer = (struct core_observer){.runs = c->client_observer.runs ? notify_runs : NULL,
                                         .cycles = ONE_OF(cycles),
                                         .fetched = ONE_OF(fetched),
                                         .dispatched = ONE_OF(dispatched),
                                         .issued = ONE_OF(issued),
                                         .executed = ONE_OF(executed),
                                         .mispredicted = ONE_OF(mispredicted),
                                         .completed = ONE_OF(completed),
                                         .committed = ONE_OF(committed),
                                         .squashed = ONE_OF(squashed),
                                         .retired = c->client_observer.retired ? notify_retired : NULL,
                                         .drained = c->client_observer.drained ? notify_drained : NULL,
                                         .transferred = c->client_observer.transferred ? notify_transferred : NULL,
                                         .reached = c->client_observer.reached ? notify_reached : NULL,
                                         .context = c,
                                         .tag = c->client_observer.tag,
                                         .observed = core_observes_insns(m) ? OBSERVE_ALL : c->client_observer.observed,
                                         .each_cycle = c->client_observer.each_cycle || m->each_cycle};
    c->observer.strides = strides_of_both(&c->client_observer, m);
}
