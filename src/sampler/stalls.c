#include "sampler/stalls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "pmu/stall_meter.h"

const struct stall_row stall_rows[STALL_SOURCES] = {
    [STALL_ICACHE] = {"icache", "instruction misses", "stall_breakdown:icache"},
    [STALL_BRANCH] = {"branch", "mispredictions", "stall_breakdown:branch"},
    [STALL_DCACHE] = {"dcache", "data misses", "stall_breakdown:dcache"},
    [STALL_TRANSLATION] = {"translation", "address translation", "stall_breakdown:translation"},
    [STALL_REJECT] = {"reject", "rejections", "stall_breakdown:reject"},
    [STALL_FPU] = {"fpu", "floating-point latency", "stall_breakdown:fpu"},
    [STALL_INTEGER] = {"integer", "integer latency", "stall_breakdown:integer"},
    [STALL_OTHER] = {"other", "other stalls", "stall_breakdown:hit|stores|other"},
};
const struct stall_row stall_completion_row = {"completion", "completion", "completion_cycles"};

static const uint8_t source_of[STALL_PARTS] = {[PART_ICACHE] = STALL_ICACHE,   [PART_BRANCH] = STALL_BRANCH,
                                               [PART_DCACHE] = STALL_DCACHE,   [PART_TRANSLATION] = STALL_TRANSLATION,
                                               [PART_REJECT] = STALL_REJECT,   [PART_FPU] = STALL_FPU,
                                               [PART_INTEGER] = STALL_INTEGER, [PART_HIT] = STALL_OTHER,
                                               [PART_STORES] = STALL_OTHER,    [PART_OTHER] = STALL_OTHER};

void stall_interval_add(struct stall_interval *to, const struct stall_interval *i)
{
    to->insns += i->insns;
    to->cycles += i->cycles;
    to->completion += i->completion;
    for (unsigned s = 0; s < STALL_SOURCES; s++) {
        to->stalls[s] += i->stalls[s];
        if (i->error[s])
            to->error[s] = (uint64_t)llround(hypot((double)to->error[s], (double)i->error[s]));
    }
}

/* ---- a series */

void stall_series_add(void *series, const struct stall_interval *i)
{
    struct stall_series *s = series;
    struct stall_interval *more = array_grow(s->of, s->count, &s->room, sizeof *more);
    if (more == NULL) {
        if (s->count)
            stall_interval_add(&s->of[s->count - 1], i);
        return;
    }
    s->of = more;
    s->of[s->count++] = *i;
}

void stall_series_free(struct stall_series *s)
{
    free(s->of);
    *s = (struct stall_series){0};
}

/* ---- intervals */

struct stalls {
    struct stalls_config config;
    struct stall_meter meter;
    struct stall_interval now;   /* the current interval */
    uint64_t next_cut;           /* position of the end of the current interval; UINT64_MAX: none */
    struct stall_interval total; /* sum of the intervals that have ended */
    bool idle;                   /* counting is off */
    struct core_observer observer;
    struct simulation_sum sum;
};

/* Sets the end of the interval that begins at `position`, in cycles or instructions: the next multiple of the length.
 */
static void set_cut(struct stalls *s, uint64_t position)
{
    uint64_t length = s->config.interval;
    s->next_cut = length ? position - position % length + length : UINT64_MAX;
}

static void end_interval(struct stalls *s)
{
    struct stall_interval *i = &s->now;
    uint64_t insn = i->first_insn + i->insns, cycle = i->first_cycle + i->cycles;
    if (s->config.sink)
        s->config.sink(s->config.context, i);
    stall_interval_add(&s->total, i);
    *i = (struct stall_interval){.first_insn = insn, .first_cycle = cycle};
    set_cut(s, s->config.clock == CLOCK_CYCLES ? cycle : insn);
}

/* If the current interval ends within the next n cycles, at `committed` retired instructions per cycle: after how
 * many of them. Else 0. */
static uint64_t cut_after(const struct stalls *s, uint64_t n, uint64_t committed)
{
    const struct stall_interval *i = &s->now;
    bool by_cycles = s->config.clock == CLOCK_CYCLES;
    uint64_t at = by_cycles ? i->first_cycle + i->cycles : i->first_insn + i->insns;
    uint64_t step = by_cycles ? 1 : committed, left = s->next_cut - at;
    return step && s->next_cut != UINT64_MAX && n * step >= left ? (left + step - 1) / step : 0;
}

/* Adds n cycles to `*to`, a field of the current interval, and ends intervals on the way. */
static void add_cycles(struct stalls *s, uint64_t *to, uint64_t n, uint64_t committed)
{
    for (uint64_t part; n; n -= part) {
        uint64_t cut = cut_after(s, n, committed);
        part = cut ? cut : n;
        *to += part;
        s->now.cycles += part;
        s->now.insns += part * committed;
        if (cut)
            end_interval(s);
    }
}

static void add_stall(struct stalls *s, const struct cycle_record *r, uint64_t n)
{
    add_cycles(s, &s->now.stalls[source_of[stall_part_of(r)]], n, 0);
}

/* core_observer.cycles. The cycles of a stall are added when it ends. They still come in order, since no other cycles
 * are added during a stall. */
static void on_cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    struct stalls *s = context;
    if (s->config.user_only && r->flags & CYCLE_MACHINE)
        return;
    if (stall_is_whole(r)) {
        stall_meter_add(&s->meter, r, n);
        return;
    }
    uint64_t ended = stall_meter_end(&s->meter);
    if (ended)
        add_stall(s, &s->meter.last, ended);
    if (r->committed)
        add_cycles(s, &s->now.completion, n, r->committed);
    else
        add_stall(s, r, n);
}

/* ---- callbacks of the simulation (struct simulation_sum) */

/* This process is a forked copy: it starts from 0 and makes no intervals. */
static void on_forked(void *context)
{
    struct stalls *s = context;
    s->config.sink = NULL;
    s->now = s->total = (struct stall_interval){0};
    s->meter = (struct stall_meter){0};
}

/* Ends the current interval, and a stall in progress, here. */
static void close_interval(struct stalls *s)
{
    uint64_t ended = stall_meter_end(&s->meter);
    if (ended)
        add_stall(s, &s->meter.last, ended);
    if (s->now.cycles && !s->idle)
        end_interval(s);
}

static void on_end(void *context)
{
    close_interval(context);
}

/* Turns counting on or off: ends the current interval, and the cycles from here on count only if `counts` is set. */
static void on_set_counting(void *context, bool counts)
{
    struct stalls *s = context;
    close_interval(s);
    s->idle = !counts;
    s->now = (struct stall_interval){0};
}

_Static_assert(sizeof(struct stall_interval) % sizeof(uint64_t) == 0,
               "simulation_sum adds intervals up as arrays of uint64_t");

struct stalls *stalls_new(const struct stalls_config *config, struct error *err)
{
    struct stalls *s = calloc(1, sizeof *s);
    if (s == NULL) {
        error_set(err, -ENOMEM, "out of memory for stalls");
        return NULL;
    }
    s->config = *config;
    set_cut(s, 0);
    s->observer = (struct core_observer){.cycles = on_cycles, .context = s, .observed = OBSERVE_CHOSEN};
    s->sum = (struct simulation_sum){.forked = on_forked,
                                     .end = on_end,
                                     .set_counting = on_set_counting,
                                     .context = s,
                                     .numbers = (uint64_t *)(void *)&s->total,
                                     .count = sizeof s->total / sizeof(uint64_t)};
    return s;
}

void stalls_free(struct stalls *s)
{
    free(s);
}

const struct core_observer *stalls_observer(struct stalls *s)
{
    return &s->observer;
}

const struct simulation_sum *stalls_sum(struct stalls *s)
{
    return &s->sum;
}

const struct stall_interval *stalls_total(const struct stalls *s)
{
    return &s->total;
}
