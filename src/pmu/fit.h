/* Which events of a list a core's PMU can count at the same time.
 *
 * A core has pmu.counters programmable counters. Each counts one event of the list. The rules in section [events] of a
 * core file say which counters can count an event. Plain cycles and instructions have fixed counters of their own, like
 * mcycle and minstret.
 *
 * Events are placed in the order of the list, the events of a group together or not at all. An event that has been
 * placed stays, but may move to another counter to make room for a later one. Without groups, as many events are placed
 * as possible. */
#ifndef CYCLESCOPE_PMU_FIT_H
#define CYCLESCOPE_PMU_FIT_H

#include <limits.h>

#include "core/config.h"
#include "pmu/event_spec.h"

#define COUNTER_OF_ITS_OWN UINT_MAX

/* Checks that each rule of the core names an event: 0, or -EINVAL with a message. */
int pmu_check_rules(const struct core_config *core, struct error *err) MUST_CHECK;

/* The counters that may count an event according to the core's rules, one bit each, including counters that the core
 * does not have. */
uint32_t pmu_allowed(const struct event_spec *s, const struct core_config *core);

/* Whether this is cycles or instructions without modifiers, which have fixed counters. */
bool pmu_has_own_counter(const struct event_spec *s);

/* Sets for each event of the list whether it fits, and the number of its counter or COUNTER_OF_ITS_OWN. */
int pmu_fit(const struct event_specs *s, const struct core_config *core, bool *fits, unsigned *counter,
            struct error *err) MUST_CHECK;

/* Writes why an event does not fit, as the end of a sentence: "only counter 0 can count it, and is taken". */
void pmu_unfit_text(const struct event_specs *s, size_t event, const struct core_config *core, char *text, size_t size);

#endif
