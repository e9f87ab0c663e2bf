#include "sampler/stall_monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "sampler/stalls_logical.h"

enum { SLICES_OF_A_ROUND = 10 }; /* unless the length of slices is given */

struct stall_monitor {
    struct stalls *stalls; /* exact counts; NULL: logical counters, which use the fields below */
    struct event_specs specs;
    struct plan plan;
    struct stalls_logical rounds;
    struct logical *logical;
};

static int count_fully(struct stall_monitor *t, const struct stall_monitor_config *c, struct simulation *s,
                       struct error *err)
{
    t->stalls = stalls_new(c->stalls, err);
    if (t->stalls == NULL)
        return -ENOMEM;
    s->observer = stalls_observer(t->stalls);
    s->sum = stalls_sum(t->stalls);
    return 0;
}

static int count_by_turns(struct stall_monitor *t, const struct stall_monitor_config *c, struct simulation *s,
                          struct error *err)
{
    struct plan_options options = c->plan;
    options.clock = c->stalls->clock;
    options.round = c->stalls->interval;
    if (options.slice == 0)
        options.slice = options.round / SLICES_OF_A_ROUND;
    if (s->firmware)
        return error_set(err, -EINVAL,
                         "--firmware %s: machine mode has room for one firmware, and multiplexed counters use it",
                         s->firmware);
    t->rounds = (struct stalls_logical){.sink = c->stalls->sink, .context = c->stalls->context};
    int code = stalls_logical_specs(&t->specs, err);
    if (code == 0)
        code = plan_make(&t->specs, s->core, &options, &t->plan, err);
    if (code != 0)
        return code;
    const struct logical_config config = {.plan = &t->plan,
                                          .estimator = c->estimator ? c->estimator : &estimators[0],
                                          .programs = 1,
                                          .quantum = c->quantum,
                                          .slice = c->slice,
                                          .slice_context = c->slice_context,
                                          .ready = stalls_logical_round,
                                          .ready_context = &t->rounds};
    t->logical = logical_new(&config, s, err);
    return t->logical ? 0 : -ENOMEM;
}

struct stall_monitor *stall_monitor_new(const struct stall_monitor_config *c, struct simulation *s, struct error *err)
{
    struct stall_monitor *t = calloc(1, sizeof *t);
    if (t == NULL) {
        error_set(err, -ENOMEM, "out of memory for stalls");
        return NULL;
    }
    if ((c->exact ? count_fully(t, c, s, err) : count_by_turns(t, c, s, err)) != 0) {
        stall_monitor_free(t);
        return NULL;
    }
    return t;
}

void stall_monitor_free(struct stall_monitor *s)
{
    if (s == NULL)
        return;
    stalls_free(s->stalls);
    logical_free(s->logical);
    plan_free(&s->plan);
    event_specs_free(&s->specs);
    free(s);
}

/* The error of a total of logical counters is that of the estimate over the whole run, not the sum over rounds. */
int stall_monitor_finish(struct stall_monitor *s, struct stall_interval *total, struct error *err)
{
    if (s->stalls) {
        *total = *stalls_total(s->stalls);
        return 0;
    }
    int code = logical_finish(s->logical, err);
    if (code != 0)
        return code;
    *total = s->rounds.total;
    for (unsigned i = 0; i < STALL_SOURCES; i++) {
        struct estimate e = logical_total(s->logical, 0, i);
        double half = estimate_half(&e), most = (double)total->cycles;
        total->error[i] = (uint64_t)(half < most ? half + 0.5 : most);
    }
    return 0;
}
