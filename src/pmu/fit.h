/* Which of the events of a list a core's PMU can count at the same time.
 *
 * A core has pmu.counters counters that can be programmed, each of which counts one event of the list; the rules of its
 * section [events] say which of them can count an event. Cycles and instructions as such have counters of their own, as
 * mcycle and minstret are.
 *
 * Events are taken in the order of the list, those of a group together or not at all. One that is taken stays, but may
 * be moved to another counter for the sake of a later one. Without groups, as many events are taken as can be. */
#ifndef CYCLESCOPE_PMU_FIT_H
#define CYCLESCOPE_PMU_FIT_H

#include <limits.h>

#include "core/config.h"
#include "pmu/event_spec.h"

#define COUNTER_OF_ITS_OWN UINT_MAX

/* Whether the core's rules name events; -EINVAL with a sentence if one does not. */
int pmu_check_rules(const struct core_config *core, struct error *err) MUST_CHECK;

/* The counters that can count an event by the core's rules, whether it has them or not: one bit each. */
uint32_t pmu_allowed(const struct event_spec *s, const struct core_config *core);

/* Whether this is cycles or instructions as such. */
bool pmu_has_own_counter(const struct event_spec *s);

/* For each event of the list whether it fits, and if so the number of its counter or COUNTER_OF_ITS_OWN. */
int pmu_fit(const struct event_specs *s, const struct core_config *core, bool *fits, unsigned *counter,
            struct error *err) MUST_CHECK;

/* Why an event that does not fit does not, as the end of a sentence: "only counter 0 can count it, and is taken". */
void pmu_unfit_text(const struct event_specs *s, size_t event, const struct core_config *core, char *text, size_t size);

#endif
