/* Samples by counters that overflow: where the interrupt hits, or with precision. */
#include <errno.h>
#include <stdlib.h>

#include "base/index_table.h"
#include "monitor/recorder_priv.h"

struct sampled {
    struct random random;
    uint64_t mean;
    uint64_t limit; /* of what is watched, or of what was told so far */
    uint64_t told;  /* events */
    bool time;      /* it is the cycle's own number that is watched */
    bool armed;     /* the overflow may come with the next cycle: instructions that retire are looked at */
};

/* An overflow in this cycle whose interrupt comes at its end. */
struct overflow {
    size_t event;
    uint64_t cause;
};

struct counters {
    struct sampled *of;       /* by event */
    uint64_t most;            /* events of instructions that retire in a cycle */
    struct overflow *pending; /* where events are told */
    size_t pending_count, pending_room;
};

static struct sampled *sampled_at(struct recorder *r, size_t i)
{
    return &((struct counters *)r->state)->of[i];
}

static bool precise(const struct recorder *r)
{
    return r->config.mode == RECORD_PRECISE;
}

/* `cause`: NULL if it is not to be told. */
static void write_sample(struct recorder *r, size_t event, const struct insn_view *v, const uint64_t *cause)
{
    struct profile_sample s = {
        .event = (uint32_t)event, .weight = sampled_at(r, event)->mean, .cycle = core_cycle(r->core)};
    recorder_describe(r, v, &s);
    if (cause) {
        s.cause = *cause;
        s.flags |= PROFILE_HAS_CAUSE;
    }
    recorder_write(r, PROFILE_SAMPLE, &s);
}

/* What an interrupt finds: nothing is known of its instruction but where it is. */
static void write_interrupted(struct recorder *r, size_t event, const uint64_t *cause)
{
    struct insn_view v = {.pc = core_interrupt_pc(r->core), .tag = chains_now(r->chains)};
    write_sample(r, event, &v, cause);
}

static void write_blamed(struct recorder *r, size_t event)
{
    struct insn_view v;
    core_blame(r->core, &v);
    write_sample(r, event, &v, NULL);
}

/* ---- watched counts */

static uint64_t count_of(struct recorder *r, size_t i)
{
    return sampled_at(r, i)->time ? core_cycle(r->core) : *pmu_plain_count(r->pmu, i);
}

/* How long before the overflow a precise sample has to know of it: cycles are blamed before they begin, and
 * instructions are looked at from the cycle on in which it may come. */
static uint64_t ahead(struct recorder *r, size_t i)
{
    return !precise(r) ? 0 : sampled_at(r, i)->time ? 1 : ((struct counters *)r->state)->most;
}

static void watch(struct recorder *r, size_t i)
{
    const struct sampled *s = sampled_at(r, i);
    uint64_t limit = s->limit > ahead(r, i) ? s->limit - ahead(r, i) : 0;
    core_watch(r->core, (unsigned)i, s->time ? NULL : pmu_plain_count(r->pmu, i), s->armed ? UINT64_MAX : limit);
}

static void on_reached(void *context, unsigned i, uint64_t cycle)
{
    struct recorder *r = recorder_of(context);
    struct sampled *s = sampled_at(r, i);
    (void)cycle;
    if (precise(r) && !s->time) {
        s->armed = true;
        core_capture(r->core, true);
    } else {
        for (; s->limit <= count_of(r, i) + ahead(r, i); s->limit += recorder_draw(r, &s->random, s->mean)) {
            if (precise(r))
                write_blamed(r, i);
            else
                write_interrupted(r, i, NULL);
        }
    }
    watch(r, i);
}

/* An instruction retires; counts have grown by it. */
static void on_captured(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct recorder *r = recorder_of(context);
    bool armed = false;
    (void)cycle;
    for (size_t i = 0; i < r->specs.count; i++) {
        struct sampled *s = sampled_at(r, i);
        if (s->armed && count_of(r, i) >= s->limit && pmu_matches(r->pmu, i, v)) {
            for (; s->limit <= count_of(r, i); s->limit += recorder_draw(r, &s->random, s->mean))
                write_sample(r, i, v, NULL);
            s->armed = s->limit <= count_of(r, i) + ahead(r, i);
            watch(r, i);
        }
        armed |= s->armed;
    }
    core_capture(r->core, armed);
}

static void attached(struct recorder *r)
{
    for (size_t i = 0; !r->told && i < r->specs.count; i++) {
        sampled_at(r, i)->limit += count_of(r, i);
        watch(r, i);
    }
}

/* ---- events that are told one by one */

static void interrupt_later(struct recorder *r, size_t event, uint64_t cause)
{
    struct counters *c = r->state;
    struct overflow *grown = array_room(c->pending, c->pending_count, &c->pending_room, sizeof *c->pending);
    if (grown == NULL) {
        r->lost = true;
        return;
    }
    c->pending = grown;
    c->pending[c->pending_count++] = (struct overflow){event, cause};
}

static void counted(void *context, size_t i, uint64_t amount, const struct insn_view *v)
{
    struct recorder *r = context;
    struct sampled *s = sampled_at(r, i);
    s->told += amount;
    for (; s->limit <= s->told; s->limit += recorder_draw(r, &s->random, s->mean)) {
        const struct insn_view *culprit = precise(r) || r->config.truth ? recorder_culprit(r, v) : NULL;
        if (precise(r))
            write_sample(r, i, culprit, r->config.truth ? &culprit->pc : NULL);
        else
            interrupt_later(r, i, culprit ? culprit->pc : 0);
    }
}

static void cycle_ended(struct recorder *r)
{
    struct counters *c = r->state;
    for (size_t i = 0; i < c->pending_count; i++)
        write_interrupted(r, c->pending[i].event, r->config.truth ? &c->pending[i].cause : NULL);
    c->pending_count = 0;
}

/* ---- as a mode */

static int begin(struct recorder *r, const struct core_config *core, struct error *err)
{
    struct counters *c = r->state = calloc(1, sizeof *c);
    if (c == NULL || (c->of = calloc(r->specs.count + 1, sizeof *c->of)) == NULL)
        return error_set(err, -ENOMEM, "out of memory for recording");
    c->most = core->commit_width > core->dispatch_bundle ? core->commit_width : core->dispatch_bundle;
    for (size_t i = 0; i < r->specs.count; i++) {
        struct sampled *s = &c->of[i];
        random_seed(&s->random, hash_number(r->config.seed, i));
        s->mean = r->specs.of[i].period;
        s->time = pmu_counts_cycles(&r->specs.of[i]);
        s->limit = recorder_draw(r, &s->random, s->mean);
    }
    if (!r->told) {
        r->observer.reached = on_reached;
        r->observer.committed = precise(r) ? on_captured : NULL;
    }
    return 0;
}

static void release(struct recorder *r)
{
    struct counters *c = r->state;
    if (c) {
        free(c->of);
        free(c->pending);
    }
    free(c);
}

const struct recording recording_counters = {
    .begin = begin, .counted = counted, .attached = attached, .cycle_ended = cycle_ended, .free = release};
