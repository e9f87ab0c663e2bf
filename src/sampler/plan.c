#include "sampler/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/plan_groups.h"
#include "pmu/fit.h"
#include "pmu/machine_pmu.h"

#define SLICE_LONGEST (UINT64_C(1) << 48) /* limit that keeps the length of a round within 64 bits */

/* A plan in the making. */
struct planning {
    const struct event_specs *specs;
    const struct core_config *core;
    const struct plan_options *options;
    struct plan *plan;
    struct error *err;
    struct grouping grouping;         /* of the events that are not counted always; points to the arrays below */
    uint32_t event[PLAN_EVENTS_MOST]; /* indexes in `specs` of the events of `grouping` */
    uint32_t can[PLAN_EVENTS_MOST], first[PLAN_EVENTS_MOST + 1];
    uint32_t share[PLAN_EVENTS_MOST], group[PLAN_EVENTS_MOST];
};

static const char *clock_name(enum slice_clock clock)
{
    return clock == CLOCK_CYCLES ? "cycles" : "instructions";
}

/* The slice clock as an event specification: cycles or instructions of user mode. The mode does not restrict which
 * counters can count it. */
static struct event_spec clock_spec(enum slice_clock clock)
{
    const char *name = clock_name(clock);
    const struct event *event = event_find(name, strlen(name));
    return (struct event_spec){.event = event, .privilege = PRIVILEGE_USER, .path = event->standard};
}

uint64_t plan_clock_code(enum slice_clock clock)
{
    uint64_t code = 0;
    struct error none;
    struct event_spec s = clock_spec(clock);
    (void)!event_encode(&s, &code, &none);
    return code;
}

/* ---- checks */

/* Bit mask of the core's counters that can count the event. */
static uint32_t counters_of(const struct planning *p, const struct event_spec *s)
{
    return pmu_allowed(s, p->core) & ((UINT32_C(1) << p->core->pmu_counters) - 1);
}

/* Whether mcycle or minstret counts the event. These count user mode only. */
static bool counted_always(const struct event_spec *s)
{
    struct event_spec plain = *s;
    plain.privilege = PRIVILEGE_ANY;
    return s->privilege == PRIVILEGE_USER && pmu_has_own_counter(&plain);
}

/* An error if no counter can count event i, or if it has a period or preload, which multiplexed counters do not have.
 */
static int check_event(const struct planning *p, size_t i)
{
    const struct event_spec *s = &p->specs->of[i];
    char why[160];
    if (s->period || s->preload)
        return error_set(p->err, -EINVAL, "'%s' cannot be counted in turns: only a counter of its own has a %s",
                         s->text, s->period ? "period" : "preload");
    if (counters_of(p, s) != 0)
        return 0;
    pmu_unfit_text(p->specs, i, p->core, why, sizeof why);
    return error_set(p->err, -EINVAL, "'%s' cannot be counted: %s", s->text, why);
}

/* The names of a party's events; a long list is cut and ends in an ellipsis. */
static void name_party(const struct planning *p, uint32_t party, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t i = p->first[party]; i < p->first[party + 1] && used < size; i++) {
        const char *name = p->specs->of[p->event[i]].text;
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > p->first[party] ? "," : "", name);
    }
    if (used >= size)
        memcpy(text + size - sizeof "…", "…", sizeof "…");
}

/* Reports why the events of a party do not fit into one group together with the slice clock. */
static int refuse_party(const struct planning *p, uint32_t party)
{
    char names[200], counters[96];
    uint32_t count = p->first[party + 1] - p->first[party], all = (uint32_t)p->core->pmu_counters;
    const char *clock = clock_name(p->options->clock);
    name_party(p, party, names, sizeof names);
    counters_text(p->can[p->first[party]], counters, sizeof counters);
    if (all == 1)
        return error_set(p->err, -EINVAL,
                         "'%s' cannot be counted in turns: the core's only counter has to count the %s of slices",
                         names, clock);
    if (count == 1)
        return error_set(p->err, -EINVAL,
                         "'%s' cannot be counted in turns: counter %s, its only one, has to count the %s of slices",
                         names, counters, clock);
    if (count >= all)
        return error_set(p->err, -EINVAL,
                         "{%s} cannot be counted together: these are %" PRIu32 " events, and a group has room for "
                         "%" PRIu32 ", as one of the core's %" PRIu32 " counters counts the %s of slices",
                         names, count, all - 1, all, clock);
    return error_set(p->err, -EINVAL,
                     "{%s} cannot be counted together: by the core's rules there are not enough counters for them "
                     "beside the one that counts the %s of slices",
                     names, clock);
}

static int check_parties(struct planning *p)
{
    struct grouping *g = &p->grouping;
    if (!counters_match(NULL, 0, g->clock, NULL))
        return error_set(p->err, -EINVAL,
                         "events cannot take turns on this core: it has no counter for the %s of slices",
                         clock_name(p->options->clock));
    for (uint32_t i = 0; i < g->parties; i++)
        if (!counters_match(p->can + p->first[i], p->first[i + 1] - p->first[i], g->clock, NULL))
            return refuse_party(p, i);
    return 0;
}

/* ---- from specifications to parties */

/* Adds a multiplexed event: to the party of the event before it if both were in the same braces, else to a new one. */
static void add_event(struct planning *p, size_t i)
{
    const struct event_spec *s = &p->specs->of[i];
    struct grouping *g = &p->grouping;
    uint32_t last = p->first[g->parties], share = s->share ? s->share : 1;
    bool joins = g->parties > 0 && p->specs->of[p->event[last - 1]].group == s->group;
    p->event[last] = (uint32_t)i;
    p->can[last] = counters_of(p, s);
    if (!joins)
        p->share[g->parties++] = share;
    else if (p->share[g->parties - 1] < share)
        p->share[g->parties - 1] = share;
    p->first[g->parties] = last + 1;
}

/* Encodes all events, and adds those that are not counted always to the parties. */
static int add_events(struct planning *p)
{
    enum privilege mode = p->options->mode ? p->options->mode : PRIVILEGE_USER;
    for (size_t i = 0; i < p->specs->count; i++) {
        struct event_spec s = p->specs->of[i];
        struct plan_event *e = &p->plan->event[i];
        s.privilege = s.mode_named ? s.privilege : (uint8_t)mode;
        int code = event_encode(&s, &e->code, p->err);
        if (code != 0)
            return code;
        if (!p->options->all_in_turns && counted_always(&s)) {
            e->group = PLAN_ALWAYS;
            e->place = strcmp(s.event->name, "cycles") == 0 ? CLOCK_CYCLES : CLOCK_INSNS;
            e->counter = COUNTER_OF_ITS_OWN;
            continue;
        }
        code = check_event(p, i);
        if (code != 0)
            return code;
        add_event(p, i);
    }
    return 0;
}

/* ---- from groups to a plan */

/* Lists the events of a group: their counters and their indexes. Returns how many. */
static size_t gather(const struct planning *p, uint32_t group, uint32_t can[], uint32_t which[])
{
    size_t count = 0;
    for (uint32_t party = 0; party < p->grouping.parties; party++)
        for (uint32_t i = p->first[party]; p->group[party] == group && i < p->first[party + 1]; i++) {
            can[count] = p->can[i];
            which[count++] = p->event[i];
        }
    return count;
}

/* The counters that may be the slice clock: a single one if the same counter can be the clock in all groups, so that
 * there is less to program. Prefers the last counter, since most rules restrict events to the first ones. */
static uint32_t choose_clock(const struct planning *p)
{
    uint32_t can[GROUPING_COUNTERS], which[GROUPING_COUNTERS];
    for (uint32_t left = p->grouping.clock; left != 0;) {
        uint32_t bit = UINT32_C(1) << (31 - __builtin_clz(left)), group = 0;
        while (group < p->grouping.groups && counters_match(can, gather(p, group, can, which), bit, NULL))
            group++;
        if (group == p->grouping.groups)
            return bit;
        left &= ~bit;
    }
    return p->grouping.clock;
}

/* Assigns counters and places to the events of a group. */
static void fill_group(struct planning *p, uint32_t group, uint32_t clock)
{
    uint32_t can[GROUPING_COUNTERS], which[GROUPING_COUNTERS], counter[GROUPING_COUNTERS];
    size_t count = gather(p, group, can, which);
    (void)!counters_match(can, count, clock, counter);
    for (uint32_t i = 0; i < count; i++) {
        struct plan_event *e = &p->plan->event[which[i]];
        e->group = group;
        e->place = i;
        e->counter = counter[i];
    }
    p->plan->group[group] = (struct plan_group){.share = 1, .counts = (uint32_t)count, .clock = counter[count]};
}

static int fill_groups(struct planning *p)
{
    struct grouping *g = &p->grouping;
    uint32_t count = g->groups ? g->groups : 1; /* a plan without multiplexed events has slices too */
    if (count > PLAN_GROUPS_MOST)
        return error_set(p->err, -EINVAL,
                         "%zu events are too many to be counted in turns: on this core they need %" PRIu32
                         " groups, and there can be %d",
                         p->specs->count, count, PLAN_GROUPS_MOST);
    p->plan->group = calloc(count, sizeof *p->plan->group);
    if (!p->plan->group)
        return error_set(p->err, -ENOMEM, "out of memory for a plan");
    p->plan->group_count = count;
    p->plan->least = g->least;
    uint32_t clock = choose_clock(p);
    for (uint32_t i = 0; i < count; i++)
        fill_group(p, i, clock);
    for (uint32_t i = 0; i < g->parties; i++) {
        uint32_t *share = &p->plan->group[p->group[i]].share;
        *share = p->share[i] > *share ? p->share[i] : *share;
    }
    return 0;
}

/* ---- rounds */

/* Distributes `slots` slots in proportion to the shares, which sum to `shares`. The slots that rounding down leaves go
 * to the largest remainders, among equal ones to the first group. */
static void deal_slots(struct plan *plan, uint32_t slots, uint32_t shares)
{
    uint32_t left = slots, remainder[PLAN_GROUPS_MOST];
    for (size_t i = 0; i < plan->group_count; i++) {
        uint64_t product = (uint64_t)plan->group[i].share * slots;
        plan->group[i].share = (uint32_t)(product / shares);
        remainder[i] = (uint32_t)(product % shares) + 1;
        left -= plan->group[i].share;
    }
    for (; left > 0; left--) {
        size_t most = 0;
        for (size_t i = 1; i < plan->group_count; i++)
            if (remainder[i] > remainder[most])
                most = i;
        plan->group[most].share++;
        remainder[most] = 0;
    }
}

/* Reports that a round has too few slots, and which lengths would fit. */
static int refuse_round(const struct planning *p, uint64_t slots, uint64_t shares)
{
    const struct plan_options *o = p->options;
    uint64_t slice = p->plan->slice, fitting = o->round / shares;
    const char *clock = clock_name(o->clock);
    char also[96] = "";
    if (fitting >= PLAN_SLICE_LEAST)
        snprintf(also, sizeof also, ", or slices of at most %" PRIu64, fitting);
    return error_set(p->err, -EINVAL,
                     "a round of %" PRIu64 " %s has %" PRIu64 " slices of %" PRIu64 ", and the groups need %" PRIu64
                     ": rounds of at least %" PRIu64 " would do%s",
                     o->round, clock, slots, slice, shares, slice * shares, also);
}

/* Sets the length of slices, the slots of a round, and the final shares. */
static int make_rounds(struct planning *p)
{
    const struct plan_options *o = p->options;
    struct plan *plan = p->plan;
    const char *clock = clock_name(o->clock);
    uint64_t shares = 0;
    for (size_t i = 0; i < plan->group_count; i++)
        shares += plan->group[i].share;
    plan->slice = o->slice ? o->slice : PLAN_SLICE;
    if (plan->slice < PLAN_SLICE_LEAST)
        return error_set(p->err, -EINVAL,
                         "slices of %" PRIu64 " %s are too short, as changing groups would take much of that: they "
                         "need at least %d",
                         plan->slice, clock, PLAN_SLICE_LEAST);
    plan->first_slice = o->gradual ? PLAN_SLICE_LEAST : 0;
    if (plan->slice > SLICE_LONGEST)
        return error_set(p->err, -EINVAL, "slices of %" PRIu64 " %s are too long", plan->slice, clock);
    uint64_t slots = o->round ? o->round / plan->slice : shares;
    if (shares > PLAN_SLOTS_MOST)
        return error_set(p->err, -EINVAL, "the groups' shares sum to %" PRIu64 ", and a round has at most %d slices",
                         shares, PLAN_SLOTS_MOST);
    if (slots < shares)
        return refuse_round(p, slots, shares);
    if (slots > PLAN_SLOTS_MOST)
        return error_set(p->err, -EINVAL,
                         "a round of %" PRIu64 " %s has %" PRIu64 " slices of %" PRIu64
                         ", and can have %d: slices of at "
                         "least %" PRIu64 " would do",
                         o->round, clock, slots, plan->slice, PLAN_SLOTS_MOST, o->round / (PLAN_SLOTS_MOST + 1) + 1);
    plan->slots = (uint32_t)slots;
    if (!o->idle)
        deal_slots(plan, plan->slots, (uint32_t)shares);
    return 0;
}

/* ---- the interface */

static int plan_all(struct planning *p)
{
    int code = pmu_check_rules(p->core, p->err);
    if (code == 0)
        code = add_events(p);
    if (code == 0)
        code = check_parties(p);
    if (code == 0 && grouping_find(&p->grouping) != 0)
        code = error_set(p->err, -ENOMEM, "out of memory for a plan");
    if (code == 0)
        code = fill_groups(p);
    return code == 0 ? make_rounds(p) : code;
}

int plan_make(const struct event_specs *specs, const struct core_config *core, const struct plan_options *options,
              struct plan *plan, struct error *err)
{
    *plan = (struct plan){.clock = options->clock, .fixed_order = options->fixed_order, .seed = options->seed};
    if (specs->count > PLAN_EVENTS_MOST)
        return error_set(err, -EINVAL, "%zu events are too many to be counted in turns: there can be %d", specs->count,
                         PLAN_EVENTS_MOST);
    struct planning *p = calloc(1, sizeof *p);
    plan->event = calloc(specs->count + 1, sizeof *plan->event);
    plan->event_count = specs->count;
    int code = p && plan->event ? 0 : error_set(err, -ENOMEM, "out of memory for a plan");
    if (code == 0) {
        struct event_spec clock = clock_spec(options->clock);
        *p = (struct planning){.specs = specs, .core = core, .options = options, .plan = plan, .err = err};
        p->grouping = (struct grouping){.first = p->first,
                                        .can = p->can,
                                        .share = p->share,
                                        .group = p->group,
                                        .clock = counters_of(p, &clock),
                                        .budget = GROUPING_BUDGET};
        code = plan_all(p);
    }
    free(p);
    if (code != 0)
        plan_free(plan);
    return code;
}

void plan_free(struct plan *plan)
{
    free(plan->event);
    free(plan->group);
    *plan = (struct plan){0};
}
