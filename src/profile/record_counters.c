/* Recording, modes interrupt and precise: samples when a counter overflows. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/index_table.h"
#include "profile/recorder_priv.h"

/* An event that is sampled. */
struct sampled {
    struct random random;
    uint64_t mean;      /* period */
    uint64_t limit;     /* value of the watched count, or of `events`, at which the counter overflows next */
    uint64_t events;    /* with event_callbacks: events so far */
    bool counts_cycles; /* it is the number of the cycle that is watched */
    bool armed;         /* it may overflow in the next cycle: retiring instructions are captured */
};

/* An overflow in the current cycle; its interrupt comes at the end of the cycle. */
struct overflow {
    size_t event;
    uint64_t cause; /* pc of the instruction that caused it, if it is recorded */
};

struct counters {
    struct sampled *of;       /* by event */
    uint64_t most_per_cycle;  /* most instructions that can retire in a cycle */
    struct overflow *pending; /* with event_callbacks */
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

/* `cause`: NULL if it is not recorded. */
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

/* Writes the sample of an interrupt. Only the pc and the chain of its instruction are known. */
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
    return sampled_at(r, i)->counts_cycles ? core_cycle(r->core) : *pmu_plain_count(r->pmu, i);
}

/* How far before its limit a count must be noticed for a precise sample. Cycles: 1, since core_blame names the
 * instruction of the next cycle. Instructions: the most that can retire in a cycle, since capturing must be on in the
 * cycle of the overflow. */
static uint64_t ahead(struct recorder *r, size_t i)
{
    return !precise(r) ? 0 : sampled_at(r, i)->counts_cycles ? 1 : ((struct counters *)r->state)->most_per_cycle;
}

static void watch(struct recorder *r, size_t i)
{
    const struct sampled *s = sampled_at(r, i);
    uint64_t limit = s->limit > ahead(r, i) ? s->limit - ahead(r, i) : 0;
    core_watch(r->core, (unsigned)i, s->counts_cycles ? NULL : pmu_plain_count(r->pmu, i),
               s->armed ? UINT64_MAX : limit);
}

static void on_reached(void *context, unsigned i, uint64_t cycle)
{
    struct recorder *r = recorder_of(context);
    struct sampled *s = sampled_at(r, i);
    (void)cycle;
    if (precise(r) && !s->counts_cycles) {
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

/* Called for captured instructions when they retire; they are already counted. */
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
    for (size_t i = 0; !r->event_callbacks && i < r->specs.count; i++) {
        sampled_at(r, i)->limit += count_of(r, i);
        watch(r, i);
    }
}

/* ---- events that the PMU reports one by one (event_callbacks) */

static void interrupt_later(struct recorder *r, size_t event, uint64_t cause)
{
    struct counters *c = r->state;
    struct overflow *grown = array_grow(c->pending, c->pending_count, &c->pending_room, sizeof *c->pending);
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
    s->events += amount;
    for (; s->limit <= s->events; s->limit += recorder_draw(r, &s->random, s->mean)) {
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

/* ---- the mode */

static int begin(struct recorder *r, const struct core_config *core, struct error *err)
{
    struct counters *c = r->state = calloc(1, sizeof *c);
    if (c == NULL || (c->of = calloc(r->specs.count + 1, sizeof *c->of)) == NULL)
        return error_set(err, -ENOMEM, "out of memory for recording");
    c->most_per_cycle = core->commit_width > core->dispatch_bundle ? core->commit_width : core->dispatch_bundle;
    for (size_t i = 0; i < r->specs.count; i++) {
        struct sampled *s = &c->of[i];
        random_seed(&s->random, hash_number(r->config.seed, i));
        s->mean = r->specs.of[i].period;
        s->counts_cycles = pmu_counts_cycles(&r->specs.of[i]);
        s->limit = recorder_draw(r, &s->random, s->mean);
    }
    if (!r->event_callbacks) {
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

const struct recorder_mode recorder_mode_counters = {
    .begin = begin, .counted = counted, .attached = attached, .cycle_ended = cycle_ended, .free = release};
