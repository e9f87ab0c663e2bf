#include "pmu/fit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- which counters can count an event */

static const struct event *event_of(const struct counter_rule *r)
{
    return event_find(r->event, strlen(r->event));
}

int pmu_check_rules(const struct core_config *core, struct error *err)
{
    char where[256];
    for (uint32_t i = 0; i < core->rule_count; i++) {
        const struct counter_rule *r = &core->rule[i];
        if (event_of(r))
            continue;
        const char *meant = event_suggest(r->event, strlen(r->event));
        rule_origin_text(core, r, where, sizeof where);
        if (meant)
            return error_set(err, -EINVAL, "%s: there is no event '%s': did you mean '%s'?", where, r->event, meant);
        return error_set(err, -EINVAL, "%s: there is no event '%s': `cyclescope list events` names all", where,
                         r->event);
    }
    return 0;
}

static bool is_plain(const struct event_spec *s)
{
    return s->mask == 0 && s->classes == 0 && s->privilege == PRIVILEGE_ANY && s->path == s->event->standard &&
           !s->edge && !s->invert && !s->marked && s->at_least == 0 && s->ip.to == 0 && s->addr.to == 0 &&
           s->preload == 0 && s->period == 0;
}

bool pmu_has_own_counter(const struct event_spec *s)
{
    const char *name = s->event->name;
    return is_plain(s) && (strcmp(name, "cycles") == 0 || strcmp(name, "instructions") == 0);
}

/* The counters that the core has, one bit each. */
static uint32_t existing(const struct core_config *core)
{
    return (UINT32_C(1) << core->pmu_counters) - 1;
}

/* The last rule for an event counts: an earlier one may have named it by its alias. */
uint32_t pmu_allowed(const struct event_spec *s, const struct core_config *core)
{
    uint32_t counters = UINT32_MAX;
    for (uint32_t i = 0; i < core->rule_count; i++)
        if (event_of(&core->rule[i]) == s->event)
            counters = core->rule[i].counters;
    return counters;
}

/* ---- bipartite matching of events to counters */

enum { FREE = -1 };

struct fitting {
    const struct event_specs *specs;
    const struct core_config *core;
    ptrdiff_t holds[CORE_COUNTERS]; /* index of the event that a counter counts, or FREE */
};

/* Finds a counter for an event: a free one, or else one that becomes free because its event moves to another counter.
 * `tried` holds the counters that have been tried, which ends the recursion. */
static bool place(struct fitting *f, size_t event, uint32_t *tried)
{
    uint32_t can = pmu_allowed(&f->specs->of[event], f->core) & existing(f->core);
    for (unsigned i = 0; i < CORE_COUNTERS; i++) {
        if (can >> i & 1 && f->holds[i] == FREE) {
            f->holds[i] = (ptrdiff_t)event;
            return true;
        }
    }
    for (unsigned i = 0; i < CORE_COUNTERS; i++) {
        if (!(can & ~*tried & UINT32_C(1) << i))
            continue;
        *tried |= UINT32_C(1) << i;
        if (place(f, (size_t)f->holds[i], tried)) {
            f->holds[i] = (ptrdiff_t)event;
            return true;
        }
    }
    return false;
}

/* Index behind the last event of the group that begins at `first`. */
static size_t group_end(const struct event_specs *s, size_t first)
{
    size_t end = first;
    while (end < s->count && s->of[end].group == s->of[first].group)
        end++;
    return end;
}

/* Places the events from `first` up to `end`, or none of them. */
static bool place_group(struct fitting *f, size_t first, size_t end)
{
    struct fitting before = *f;
    for (size_t i = first; i < end; i++) {
        uint32_t tried = 0;
        if (!pmu_has_own_counter(&f->specs->of[i]) && !place(f, i, &tried)) {
            *f = before;
            return false;
        }
    }
    return true;
}

int pmu_fit(const struct event_specs *s, const struct core_config *core, bool *fits, unsigned *counter,
            struct error *err)
{
    struct fitting f = {.specs = s, .core = core};
    int code = pmu_check_rules(core, err);
    if (code != 0)
        return code;
    for (unsigned i = 0; i < CORE_COUNTERS; i++)
        f.holds[i] = FREE;
    for (size_t first = 0, end; first < s->count; first = end) {
        end = group_end(s, first);
        bool placed = place_group(&f, first, end);
        for (size_t i = first; i < end; i++) {
            fits[i] = placed;
            counter[i] = COUNTER_OF_ITS_OWN;
        }
    }
    for (unsigned i = 0; i < CORE_COUNTERS; i++)
        if (f.holds[i] != FREE)
            counter[f.holds[i]] = i;
    return 0;
}

/* ---- messages */

/* Whether the core has no counter that can count this event. */
static bool is_homeless(const struct event_spec *s, const struct core_config *core)
{
    return !pmu_has_own_counter(s) && (pmu_allowed(s, core) & existing(core)) == 0;
}

static unsigned count_bits(uint32_t bits)
{
    return (unsigned)__builtin_popcount(bits);
}

void pmu_unfit_text(const struct event_specs *s, size_t event, const struct core_config *core, char *text, size_t size)
{
    const struct event_spec *e = &s->of[event];
    uint32_t can = pmu_allowed(e, core), here = can & existing(core);
    char counters[96];
    counters_text(here ? here : can, counters, sizeof counters);
    const char *many = count_bits(here ? here : can) > 1 ? "s" : "";
    if (core->pmu_counters == 0 && !pmu_has_own_counter(e))
        snprintf(text, size, "the core has no counters for events");
    else if (is_homeless(e, core))
        snprintf(text, size, "it needs counter%s %s, which the core does not have", many, counters);
    else if (e->grouped)
        snprintf(text, size, "its group does not fit");
    else if (here != existing(core))
        snprintf(text, size, "only counter%s %s can count it, and %s taken", many, counters, *many ? "are" : "is");
    else
        snprintf(text, size, "all counters are taken");
}
