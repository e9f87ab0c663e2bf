#include "sampler/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine.h"

/* Position of the tool in the records of a context. */
struct context_state {
    struct sampler_reading last; /* values at the end of its last slice */
    uint32_t round, slot;        /* position of the next slice, unless records were lost */
    uint32_t first_round;        /* the round that slices report as round 0 */
};

struct sampler {
    const struct plan *plan;
    sampler_sink *sink;
    void *sink_context;
    struct sampler_memory *memory; /* shared with the firmware; set by sampler_load */
    uint64_t ring;                 /* words of a context's ring */
    uint64_t clock_code;           /* mhpmevent of the slice clock */
    uint32_t counters;             /* physical counters in use */
    uint32_t contexts;
    bool counts_itself;                                /* some event is counted in machine mode: slices begin at 0 */
    uint64_t lost;                                     /* records that found no room */
    uint8_t counter[SAMPLER_GROUPS][SAMPLER_COUNTERS]; /* number of the counter, by group and place */
    struct context_state context[SAMPLER_CONTEXTS];
};

/* ---- creation */

static int check_plan(const struct plan *p, uint32_t contexts, struct error *err)
{
    if (p->group_count >= SAMPLER_GROUPS)
        return error_set(err, -E2BIG, "%zu groups of events are more than the %d that the sampler has room for",
                         p->group_count, SAMPLER_GROUPS - 1);
    if (p->slots > SAMPLER_SLOTS)
        return error_set(err, -E2BIG, "%u slices in a round are more than the %d that the sampler has room for",
                         p->slots, SAMPLER_SLOTS);
    if (contexts > SAMPLER_CONTEXTS)
        return error_set(err, -E2BIG, "%u programs are more than the %d that the sampler has room for", contexts,
                         SAMPLER_CONTEXTS);
    return 0;
}

/* Finds which counters the plan uses. */
static void note_counters(struct sampler *s)
{
    const struct plan *p = s->plan;
    for (size_t i = 0; i < p->group_count; i++)
        if (p->group[i].clock >= s->counters)
            s->counters = p->group[i].clock + 1;
    for (size_t i = 0; i < p->event_count; i++) {
        const struct plan_event *e = &p->event[i];
        if (e->group == PLAN_ALWAYS)
            continue;
        s->counter[e->group][e->place] = (uint8_t)e->counter;
        s->counts_itself |= !(e->code & HPMEVENT_MINH);
        if (e->counter >= s->counters)
            s->counters = e->counter + 1;
    }
}

struct sampler *sampler_new(const struct plan *plan, uint32_t contexts, uint64_t records, sampler_sink *sink,
                            void *sink_context, struct error *err)
{
    if (check_plan(plan, contexts, err) != 0)
        return NULL;
    struct sampler *s = calloc(1, sizeof *s);
    if (s == NULL) {
        error_set(err, -ENOMEM, "out of memory for sampling");
        return NULL;
    }
    *s = (struct sampler){.plan = plan,
                          .sink = sink,
                          .sink_context = sink_context,
                          .contexts = contexts,
                          .clock_code = plan_clock_code(plan->clock),
                          .ring = (uint64_t)2 * SAMPLER_RECORD_MOST};
    note_counters(s);
    uint64_t words = (records + 1) * (3 + s->counters);
    for (s->ring = 128; s->ring < words;)
        s->ring *= 2;
    return s;
}

void sampler_free(struct sampler *s)
{
    free(s);
}

size_t sampler_bytes(const struct sampler *s)
{
    return sampler_memory_bytes(s->contexts, s->ring);
}

uint32_t sampler_counters(const struct sampler *s)
{
    return s->counters;
}

/* ---- the plan in shared memory */

/* The group after the last one of the plan is that of idle slots: it counts the slice clock alone. */
static void load_groups(const struct sampler *s, struct sampler_memory *m)
{
    const struct plan *p = s->plan;
    for (size_t i = 0; i < p->group_count; i++) {
        m->group[i].clock = p->group[i].clock;
        m->group[i].code[p->group[i].clock] = s->clock_code;
    }
    for (size_t i = 0; i < p->event_count; i++)
        if (p->event[i].group != PLAN_ALWAYS)
            m->group[p->event[i].group].code[p->event[i].counter] = p->event[i].code;
    struct sampler_group *idle = &m->group[p->group_count];
    idle->clock = p->group[0].clock;
    idle->code[idle->clock] = s->clock_code;
}

static void load_slots(const struct plan *p, struct sampler_memory *m)
{
    uint32_t slot = 0;
    for (size_t i = 0; i < p->group_count; i++)
        for (uint32_t n = p->group[i].share; n > 0 && slot < p->slots; n--)
            m->slot_group[slot++] = (uint8_t)i;
    while (slot < p->slots)
        m->slot_group[slot++] = (uint8_t)p->group_count;
}

void sampler_load(struct sampler *s, struct sampler_memory *memory)
{
    const struct plan *p = s->plan;
    s->memory = memory;
    memory->magic = SAMPLER_MAGIC;
    memory->counters = s->counters;
    memory->groups = (uint32_t)p->group_count + 1;
    memory->slots = p->slots;
    memory->contexts = s->contexts;
    memory->slice = p->slice;
    memory->first_slice = plan_slice_in_round(p, 0);
    memory->ring = s->ring;
    memory->seed = p->seed;
    memory->fixed_order = p->fixed_order;
    memory->counts_itself = s->counts_itself;
    load_groups(s, memory);
    load_slots(p, memory);
}

/* ---- records that the tool writes */

static void add_record(const struct sampler *s, struct sampler_memory *m, uint32_t context, uint32_t group,
                       const struct sampler_reading *now)
{
    struct sampler_context *x = &m->context[context];
    uint64_t *to = sampler_record_room(m, context, 3 + s->counters);
    if (to == NULL) {
        x->lost++;
        return;
    }
    bool runs = context == m->current;
    to[0] = SAMPLER_HEADER(x->round, x->slot, group);
    to[1] = runs ? now->cycles : x->cycles;
    to[2] = runs ? now->insns : x->insns;
    memcpy(to + 3, runs ? now->counter : x->counter, s->counters * sizeof *to);
}

/* Whether the sampler has run for this context. */
static bool has_started(const struct sampler_context *x)
{
    return x->random != 0;
}

void sampler_begin(const struct sampler *s, struct sampler_memory *memory, uint32_t context,
                   const struct sampler_reading *now)
{
    struct sampler_context *x = &memory->context[context];
    if (!has_started(x))
        return;
    x->tail = x->head;
    x->lost = 0;
    x->slot = memory->slots - 1; /* the next slice begins a round, so that all groups have a turn in it */
    x->slice = memory->first_slice;
    add_record(s, memory, context, SAMPLER_BEGIN, now);
}

void sampler_end(const struct sampler *s, struct sampler_memory *memory, uint32_t context,
                 const struct sampler_reading *now)
{
    if (has_started(&memory->context[context]))
        add_record(s, memory, context, memory->context[context].group, now);
}

/* ---- slices */

/* The slice that ends at `now` is done: the next slot is expected. */
static void advance(struct sampler *s, struct context_state *c, const struct sampler_reading *now)
{
    c->last = *now;
    if (s->counts_itself)
        memset(c->last.counter, 0, sizeof c->last.counter);
    if (++c->slot == s->plan->slots) {
        c->slot = 0;
        c->round++;
    }
}

/* Passes the slice from the last reading to `now` to the sink. A group that is not in the plan makes it idle. */
static void emit_slice(struct sampler *s, uint32_t context, uint32_t group, const struct sampler_reading *now)
{
    const struct sampler_reading *last = &s->context[context].last;
    struct slice slice = {.context = context,
                          .group = group < s->plan->group_count ? group : SLICE_IDLE,
                          .round = s->context[context].round - s->context[context].first_round,
                          .cycles = now->cycles - last->cycles,
                          .insns = now->insns - last->insns};
    if (slice.group != SLICE_IDLE)
        for (uint32_t i = 0; i < s->plan->group[group].counts; i++)
            slice.count[i] = now->counter[s->counter[group][i]] - last->counter[s->counter[group][i]];
    s->sink(s->sink_context, &slice);
}

/* A record with an unexpected round or slot follows lost records: its slice is idle, and covers their time as well. */
static void take_record(struct sampler *s, uint32_t context, const uint64_t *record)
{
    struct context_state *c = &s->context[context];
    struct sampler_reading now = {.cycles = record[1], .insns = record[2]};
    memcpy(now.counter, record + 3, s->counters * sizeof *record);
    uint32_t round = SAMPLER_HEADER_ROUND(record[0]), slot = SAMPLER_HEADER_SLOT(record[0]);
    uint32_t group = SAMPLER_HEADER_GROUP(record[0]);
    if (group == SAMPLER_BEGIN) {
        *c = (struct context_state){.last = now, .round = round, .slot = slot, .first_round = round};
        return;
    }
    bool follows = round == c->round && slot == c->slot;
    if (now.cycles != c->last.cycles)
        emit_slice(s, context, follows ? group : SLICE_IDLE, &now);
    c->round = round;
    c->slot = slot;
    advance(s, c, &now);
}

static void drain_context(struct sampler *s, uint32_t context)
{
    struct sampler_context *x = &s->memory->context[context];
    const uint64_t *ring = s->memory->log + context * s->ring;
    while (x->tail != x->head) {
        uint64_t at = x->tail & (s->ring - 1);
        if (ring[at] == SAMPLER_PAD) {
            x->tail += s->ring - at;
        } else {
            take_record(s, context, ring + at);
            x->tail += 3 + s->counters;
        }
    }
    s->lost += x->lost;
    x->lost = 0;
}

void sampler_drain(struct sampler *s)
{
    for (uint32_t i = 0; i < s->contexts; i++)
        drain_context(s, i);
}

uint64_t sampler_lost(const struct sampler *s)
{
    return s->lost;
}
