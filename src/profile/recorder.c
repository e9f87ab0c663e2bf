#include "profile/recorder_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmu/event_source.h"

enum { FLUSH_MS = 1000 }; /* host time between writes to disk: what a killed recording may lose */

static const struct recorder_mode *const recorder_modes[] = {
    [RECORD_INTERRUPT] = &recorder_mode_counters,
    [RECORD_PRECISE] = &recorder_mode_counters,
    [RECORD_PROFILEME] = &recorder_mode_profileme,
    [RECORD_ORACLE] = &recorder_mode_oracle,
};

const char *record_mode_name(enum record_mode m)
{
    static const char *const names[] = {"interrupt", "precise", "profileme", "oracle"};
    return names[m];
}

static const struct recorder_mode *mode_of(const struct recorder *r)
{
    return recorder_modes[r->config.mode];
}

/* ---- functions for the modes (recorder_priv.h) */

uint64_t recorder_draw(const struct recorder *r, struct random *random, uint64_t mean)
{
    if (r->config.fixed || mean < 2)
        return mean ? mean : 1;
    return mean - mean / 2 + random_u64(random) % (mean / 2 * 2 + 1);
}

void recorder_describe(const struct recorder *r, const struct insn_view *v, struct profile_sample *s)
{
    bool accesses = v->size || (v->addr && !v->control);
    s->pc = v->pc;
    s->chain = v->tag;
    s->outcome = v->events;
    s->flags |= (v->taken ? PROFILE_TAKEN : 0) | (v->mispredicted ? PROFILE_MISPREDICTED : 0);
    if (accesses && (r->config.addresses || r->config.mode == RECORD_PROFILEME)) {
        s->flags |= PROFILE_HAS_ADDRESS | (v->store ? PROFILE_STORE : 0);
        s->address = v->addr;
    }
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void flush(struct recorder *r, int64_t now)
{
    profile_writer_flush(r->to);
    r->flushed_ms = now;
}

void recorder_write(struct recorder *r, enum profile_record_kind kind, const struct profile_sample *s)
{
    struct profile_record record = {.kind = kind, .sample = *s};
    record.sample.chain = chains_write(r->chains, s->chain, r->to);
    maps_mention(&r->maps, s->pc);
    if (s->flags & PROFILE_HAS_ADDRESS)
        maps_mention(&r->maps, s->address);
    if (s->flags & PROFILE_HAS_CAUSE)
        maps_mention(&r->maps, s->cause);
    profile_write(r->to, &record);
    r->totals.samples += kind == PROFILE_SAMPLE;
    int64_t now = now_ms();
    if (now - r->flushed_ms >= FLUSH_MS)
        flush(r, now);
}

/* Finds the instruction that the next cycle is spent on. */
static void blame(struct recorder *r)
{
    core_blame(r->core, &r->blamed);
    r->has_blamed = true;
}

const struct insn_view *recorder_culprit(struct recorder *r, const struct insn_view *v)
{
    if (v == NULL && !r->has_blamed)
        blame(r);
    return v ? v : &r->blamed;
}

/* ---- the observer; call chains are maintained in every mode */

static void on_runs(void *context, const struct hart *h)
{
    chains_runs(recorder_of(context)->chains, h);
}

static void on_transferred(void *context, const struct hart *h, const struct core_transfer *t)
{
    chains_transferred(recorder_of(context)->chains, h, t);
}

static void on_begin(void *context, struct core *c, const struct core_counts *live)
{
    struct recorder *r = recorder_of(context);
    r->core = c;
    r->live = live;
    r->start = *live;
    pmu_attach(r->pmu, c, live);
    flush(r, now_ms());
    if (mode_of(r)->attached)
        mode_of(r)->attached(r);
}

/* The PMU has reported the events of these cycles before, or reports them here. `blamed` is that of the last cycle
 * until the end. */
static void on_cycles(void *context, const struct cycle_record *record, uint64_t n)
{
    struct recorder *r = recorder_of(context);
    if (pmu_observer(r->pmu)->cycles)
        pmu_observer(r->pmu)->cycles(context, record, n);
    if (mode_of(r)->cycle_ended)
        mode_of(r)->cycle_ended(r);
    if (r->needs_blame)
        blame(r);
}

/* Whether instructions carry their chain from fetch on, which costs 2 % of speed. Needed in modes that charge
 * instructions long after their fetch. */
static bool is_tagged(const struct recorder *r)
{
    return r->config.mode == RECORD_PRECISE || r->config.mode == RECORD_ORACLE;
}

static void set_up_observer(struct recorder *r)
{
    struct core_observer *o = &r->observer;
    *o = *pmu_observer(r->pmu);
    /* Never STRIDES_ONLY, since modes add callbacks for instructions. */
    o->strides = o->strides ? STRIDES_ON : STRIDES_OFF;
    o->begin = on_begin;
    o->runs = on_runs;
    o->transferred = on_transferred;
    if (is_tagged(r))
        o->tag = chains_tag(r->chains);
    if (r->event_callbacks && (r->needs_blame || mode_of(r)->cycle_ended)) {
        o->cycles = on_cycles;
        o->each_cycle = true;
    }
}

/* ---- the sum: end of the run, and forked processes, which are not recorded */

static void on_end(void *context)
{
    struct recorder *r = context;
    if (r->core == NULL)
        return;
    r->totals.instructions = r->live->instructions - r->start.instructions;
    r->totals.cycles = r->live->cycles - r->start.cycles;
    if (mode_of(r)->ended)
        mode_of(r)->ended(r);
    for (size_t i = 0; i < r->specs.count; i++) {
        struct profile_total total = {.event = (uint32_t)i, .count = pmu_value(r->pmu, i)};
        profile_write(r->to, &(struct profile_record){.kind = PROFILE_TOTAL, .total = total});
    }
}

/* In a process that the guest forked: stops observing. Nothing is in flight after a system call. */
static void on_forked(void *context)
{
    struct recorder *r = context;
    if (r->core)
        core_observe(r->core, NULL);
    r->core = NULL;
}

static void on_mark(void *context, bool marked)
{
    struct recorder *r = context;
    const struct simulation_sum *counters = pmu_sum(r->pmu);
    counters->set_marked(counters->context, marked);
}

/* ---- counters */

/* The count depends on a whole cycle, not on single instructions. */
static bool is_shaped(const struct event_spec *s)
{
    return s->edge || s->at_least;
}

/* Whether the PMU can name the instruction of each event. */
static bool names_insns(const struct event_spec *s)
{
    return !is_shaped(s) && event_is_attributed(s->event, s->path);
}

/* Whether core_capture delivers the instruction that increments the count. It does if the event is counted when the
 * instruction retires; not for `instructions`, since not every instruction is captured. */
static bool is_captured(const struct event_spec *s)
{
    return names_insns(s) && event_source_of(s->event, s->path)->moments == 1u << MOMENT_COMMITTED &&
           strcmp(s->event->name, "instructions") != 0;
}

/* Whether the core can watch the count of event `i`. Counts of cycles by reason are updated late, so they cannot be
 * watched; the count of all cycles is known in advance. */
static bool is_watchable(const struct recorder *r, const struct pmu *p, size_t i)
{
    const struct event_spec *s = &r->specs.of[i];
    if (!pmu_is_plain(p, i))
        return false;
    if (pmu_counts_cycles(s))
        return true;
    if (r->config.mode == RECORD_PRECISE)
        return is_captured(s);
    return names_insns(s) || event_sources[s->event - events].of_cycle == NULL;
}

static bool needs_event_callbacks(const struct recorder *r, const struct pmu *p)
{
    bool needed = r->config.truth || r->config.mode == RECORD_ORACLE || r->specs.count > CORE_WATCHES;
    for (size_t i = 0; i < r->specs.count; i++)
        needed |= !is_watchable(r, p, i);
    return needed;
}

static int open_counters(struct recorder *r, struct error *err)
{
    r->pmu = pmu_new(&r->specs, NULL, r, err);
    if (r->pmu == NULL)
        return -EINVAL;
    r->event_callbacks = needs_event_callbacks(r, r->pmu);
    if (!r->event_callbacks)
        return 0;
    pmu_free(r->pmu);
    for (size_t i = 0; i < r->specs.count; i++) {
        struct event_spec *s = &r->specs.of[i];
        if (!names_insns(s))
            r->needs_blame |= r->config.mode != RECORD_INTERRUPT || r->config.truth;
        else if (s->ip.to == 0)
            s->ip.to = UINT64_MAX; /* a range of all addresses makes the PMU check, and name, each instruction */
    }
    r->pmu = pmu_new(&r->specs, mode_of(r)->counted, r, err);
    return r->pmu ? 0 : -EINVAL;
}

static int copy_specs(struct recorder *r, const struct event_specs *from, struct error *err)
{
    if (from == NULL)
        return 0;
    r->specs.of = calloc(from->count + 1, sizeof *r->specs.of);
    if (r->specs.of == NULL)
        return error_set(err, -ENOMEM, "out of memory for recording");
    if (from->count)
        memcpy(r->specs.of, from->of, from->count * sizeof *from->of);
    r->specs.count = from->count;
    for (size_t i = 0; i < from->count; i++)
        if (r->specs.of[i].period == 0)
            r->specs.of[i].period = r->config.period;
    return 0;
}

static void announce_events(const struct recorder *r)
{
    for (size_t i = 0; i < r->specs.count; i++) {
        const struct event_spec *s = &r->specs.of[i];
        struct profile_event e = {.event = (uint32_t)i,
                                  .name = s->text,
                                  .period = r->config.mode == RECORD_ORACLE ? 0 : s->period,
                                  .cycles = pmu_counts_cycles(s)};
        profile_write(r->to, &(struct profile_record){.kind = PROFILE_EVENT, .event = e});
    }
}

/* ---- the interface */

static int begin(struct recorder *r, const struct core_config *core, struct error *err)
{
    int code = copy_specs(r, r->config.specs, err);
    if (code == 0)
        code = (r->chains = chains_new(is_tagged(r), err)) ? 0 : -ENOMEM;
    if (code == 0)
        code = open_counters(r, err);
    if (code != 0)
        return code;
    set_up_observer(r);
    announce_events(r);
    return mode_of(r)->begin(r, core, err);
}

struct recorder *recorder_new(const struct recorder_config *k, const struct core_config *core,
                              const struct guest_memory *memory, struct profile_writer *to, struct error *err)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (r == NULL) {
        error_set(err, -ENOMEM, "out of memory for recording");
        return NULL;
    }
    r->config = *k;
    r->to = to;
    r->sum = (struct simulation_sum){.forked = on_forked, .end = on_end, .set_marked = on_mark, .context = r};
    maps_begin(&r->maps, memory, to);
    if (begin(r, core, err) != 0) {
        recorder_free(r);
        return NULL;
    }
    return r;
}

void recorder_free(struct recorder *r)
{
    if (r == NULL)
        return;
    if (mode_of(r)->free)
        mode_of(r)->free(r);
    pmu_free(r->pmu);
    free(r->specs.of);
    maps_end(&r->maps);
    chains_free(r->chains);
    free(r);
}

const struct core_observer *recorder_observer(struct recorder *r)
{
    return &r->observer;
}

const struct simulation_sum *recorder_sum(struct recorder *r)
{
    return &r->sum;
}

int recorder_finish(struct recorder *r, struct recorder_totals *totals, struct error *err)
{
    *totals = r->totals;
    if (r->lost || chains_lost(r->chains) || r->maps.lost)
        return error_set(err, -ENOMEM, "out of memory: samples, call chains or mappings are missing from the profile");
    return 0;
}
