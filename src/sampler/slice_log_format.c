#include "sampler/slice_log_format.h"

enum {
    FIRST_COUNT = 3,
    DIFFERENCES = FIRST_COUNT + SLICE_COUNTS
}; /* bases of a slice's differences: round, cycles, instructions, counts */

#define AT(member) offsetof(struct slice_log_record, member)

static const struct record_field info_fields[] = {
    {"name", FIELD_STRING, AT(info.name), 0},
    {"value", FIELD_STRING, AT(info.value), 0},
};
static const struct record_field plan_fields[] = {
    {"number of slots", FIELD_U32, AT(plan.slots), 0},
    {"clock", FIELD_U32, AT(plan.clock), 0},
    {"slice", FIELD_U64, AT(plan.slice), 0},
    {"seed", FIELD_U64, AT(plan.seed), 0},
    {"order", FIELD_BOOL, AT(plan.fixed_order), 0},
    {"note on its groups", FIELD_BOOL, AT(plan.least), 0},
    {"slice of the first round", FIELD_U64, AT(plan.first_slice), 0},
};
static const struct record_field group_fields[] = {
    {"share", FIELD_U32, AT(group.group.share), 0},
    {"number of events", FIELD_U32, AT(group.group.counts), 0},
    {"clock", FIELD_U32, AT(group.group.clock), 0},
};
static const struct record_field event_fields[] = {
    {"text", FIELD_STRING, AT(event.text), 0},
    {"code", FIELD_U64, AT(event.event.code), 0},
    {"group", FIELD_ROW_OR_NONE, AT(event.event.group), 0},
    {"place", FIELD_U32, AT(event.event.place), 0},
    {"counter", FIELD_U32, AT(event.event.counter), 0},
};
static const struct record_field context_fields[] = {
    {"program", FIELD_STRING, AT(context.program), 0},
};
#define COUNT(i)                                                                                                       \
    {                                                                                                                  \
        "count", FIELD_STEP64, AT(slice.count[i]), FIRST_COUNT + (i)                                                   \
    }
static const struct record_field slice_fields[] = {
    {"context", FIELD_U32, AT(slice.context), 0},
    {"group", FIELD_ROW_OR_NONE, AT(slice.group), 0},
    {"round", FIELD_STEP32, AT(slice.round), 0},
    {"number of cycles", FIELD_STEP64, AT(slice.cycles), 1},
    {"number of instructions", FIELD_STEP64, AT(slice.insns), 2},
    COUNT(0),
    COUNT(1),
    COUNT(2),
    COUNT(3),
    COUNT(4),
    COUNT(5),
    COUNT(6),
    COUNT(7),
    COUNT(8),
    COUNT(9),
    COUNT(10),
    COUNT(11),
    COUNT(12),
    COUNT(13),
    COUNT(14),
    COUNT(15),
    COUNT(16),
    COUNT(17),
    COUNT(18),
    COUNT(19),
    COUNT(20),
    COUNT(21),
    COUNT(22),
    COUNT(23),
    COUNT(24),
    COUNT(25),
    COUNT(26),
    COUNT(27),
    COUNT(28),
};
static const struct record_field total_fields[] = {
    {"context", FIELD_U32, AT(total.context), 0},
    {"event", FIELD_U32, AT(total.event), 0},
    {"count", FIELD_U64, AT(total.count), 0},
};
static const struct record_field exit_fields[] = {
    {"context", FIELD_U32, AT(exit.context), 0},
    {"status", FIELD_I32, AT(exit.status), 0},
    {"number of cycles", FIELD_U64, AT(exit.cycles), 0},
    {"number of instructions", FIELD_U64, AT(exit.insns), 0},
};

enum { SLICE_FIELDS = sizeof slice_fields / sizeof *slice_fields };
_Static_assert(SLICE_FIELDS == 5 + SLICE_COUNTS, "each count of a slice has a field");
_Static_assert((unsigned)SLICE_FIELDS <= (unsigned)RECORD_FIELDS_MOST, "a record has room for all fields of a slice");

static const struct record_layout layouts[SLICE_LOG_KINDS] = {
    [LOG_INFO] = RECORD_LAYOUT("a line of information", info_fields),
    [LOG_PLAN] = RECORD_LAYOUT("a plan", plan_fields),
    [LOG_GROUP] = RECORD_LAYOUT("a group", group_fields),
    [LOG_EVENT] = RECORD_LAYOUT("an event", event_fields),
    [LOG_CONTEXT] = RECORD_LAYOUT("a program", context_fields),
    [LOG_SLICE] = RECORD_LAYOUT("a slice", slice_fields),
    [LOG_TOTAL] = RECORD_LAYOUT("a total", total_fields),
    [LOG_EXIT] = RECORD_LAYOUT("an exit", exit_fields),
    [LOG_END] = {"an end", NULL, 0},
};

/* ---- checks of records: each returns NULL, or what is wrong as it follows "block 12 has" */

static const char *check_plan(const struct slice_log_state *s, const struct slice_log_plan *p)
{
    if (s->planned)
        return "a second plan";
    if (p->slots == 0 || p->slice == 0)
        return "a plan without slices";
    if (p->first_slice > p->slice)
        return "a plan whose first slices are longer than the others";
    return p->clock <= CLOCK_INSNS ? NULL : "a plan with an unknown clock";
}

static const char *check_group(const struct slice_log_state *s, const struct slice_log_group *g)
{
    if (!s->planned || s->begun)
        return "a group out of place";
    if (s->groups == SLICE_LOG_GROUPS_MOST)
        return "one group too many";
    if (g->number != s->groups)
        return "a group out of order";
    if (g->group.share == 0 || g->group.share > s->slots - s->shares)
        return "a group with an impossible share";
    /* One counter is the clock, so a group has fewer events than there are counters. */
    if (g->group.counts >= SLICE_COUNTS || g->group.clock >= SLICE_COUNTS)
        return "a group with too many events";
    return NULL;
}

static const char *check_event(const struct slice_log_state *s, const struct slice_log_event *record)
{
    const struct plan_event *e = &record->event;
    if (!s->planned || s->begun)
        return "an event out of place";
    if (s->events == SLICE_LOG_EVENTS_MOST)
        return "one event too many";
    if (record->number != s->events)
        return "an event out of order";
    if (e->group == PLAN_ALWAYS)
        return e->place <= CLOCK_INSNS ? NULL : "an event that cannot be counted always";
    if (e->group >= s->groups)
        return "an event of a group that was not announced";
    if (e->place >= s->counts[e->group] || s->places[e->group] >> e->place & 1)
        return "an event without a place in its group";
    if (e->counter >= SLICE_COUNTS || s->counters[e->group] >> e->counter & 1)
        return "an event without a counter";
    return NULL;
}

static const char *check_slice(const struct slice_log_state *s, const struct slice *slice)
{
    uint32_t counts = 0;
    if (!s->planned || s->missing != 0)
        return "a slice before the plan is complete";
    if (slice->context >= s->contexts)
        return "a slice of a program that was not announced";
    if (slice->group != SLICE_IDLE && slice->group >= s->groups)
        return "a slice of a group that was not announced";
    if (slice->round < s->round[slice->context])
        return "a slice of a round that is over";
    if (slice->group != SLICE_IDLE)
        counts = s->counts[slice->group];
    for (; counts < SLICE_COUNTS; counts++)
        if (slice->count[counts] != 0)
            return "a slice with a count of no event";
    return NULL;
}

static const char *check_context(const struct slice_log_state *s, const struct slice_log_context *c)
{
    if (s->contexts == SLICE_LOG_CONTEXTS_MOST)
        return "one program too many";
    return c->number == s->contexts ? NULL : "a program out of order";
}

static const char *check_exit(const struct slice_log_state *s, const struct slice_log_exit *e)
{
    if (e->context >= s->contexts)
        return "an exit of a program that was not announced";
    return s->ended[e->context] ? "a second exit of a program" : NULL;
}

static const char *check(const void *state, const void *record)
{
    const struct slice_log_state *s = state;
    const struct slice_log_record *r = record;
    switch (r->kind) {
    case LOG_PLAN: return check_plan(s, &r->plan);
    case LOG_GROUP: return check_group(s, &r->group);
    case LOG_EVENT: return check_event(s, &r->event);
    case LOG_CONTEXT: return check_context(s, &r->context);
    case LOG_SLICE: return check_slice(s, &r->slice);
    case LOG_TOTAL:
        if (r->total.context >= s->contexts)
            return "a total of a program that was not announced";
        return r->total.event < s->events ? NULL : "a total of an event that was not announced";
    case LOG_EXIT: return check_exit(s, &r->exit);
    case LOG_INFO:
    case LOG_END: return NULL;
    default: return "a record of unknown kind";
    }
}

/* ---- what records announce */

static void add_event(struct slice_log_state *s, const struct plan_event *e)
{
    s->events++;
    if (e->group == PLAN_ALWAYS)
        return;
    s->places[e->group] |= UINT32_C(1) << e->place;
    s->counters[e->group] |= UINT32_C(1) << e->counter;
    s->missing--;
}

static void add_group(struct slice_log_state *s, const struct plan_group *g)
{
    s->counts[s->groups] = g->counts;
    s->counters[s->groups] = UINT32_C(1) << g->clock;
    s->groups++;
    s->shares += g->share;
    s->missing += g->counts;
}

static void advance(void *state, const void *record)
{
    struct slice_log_state *s = state;
    const struct slice_log_record *r = record;
    switch (r->kind) {
    case LOG_PLAN:
        s->planned = true;
        s->slots = r->plan.slots;
        break;
    case LOG_GROUP: add_group(s, &r->group.group); break;
    case LOG_EVENT: add_event(s, &r->event.event); break;
    case LOG_CONTEXT: s->contexts++; break;
    case LOG_SLICE:
        s->begun = true;
        s->round[r->slice.context] = r->slice.round;
        break;
    case LOG_EXIT: s->ended[r->exit.context] = true; break;
    default: break;
    }
}

/* Sets the numbers that are not stored. */
static void number(const void *state, void *record)
{
    const struct slice_log_state *s = state;
    struct slice_log_record *r = record;
    switch (r->kind) {
    case LOG_GROUP: r->group.number = s->groups; break;
    case LOG_EVENT: r->event.number = s->events; break;
    case LOG_CONTEXT: r->context.number = s->contexts; break;
    default: break;
    }
}

const struct record_format slice_log_format = {
    .file = {SLICE_LOG_MAGIC, SLICE_LOG_VERSION, "slice log"},
    .layouts = layouts,
    .kinds = SLICE_LOG_KINDS,
    .fields = SLICE_FIELDS,
    .record_bytes = sizeof(struct slice_log_record),
    .state_bytes = sizeof(struct slice_log_state),
    .rows = 1 + SLICE_LOG_GROUPS_MOST,
    .differences = DIFFERENCES,
    .number = number,
    .check = check,
    .advance = advance,
};
