/* The core's PMU as firmware programs it: mhpmevent and what it means, and the counters behind mhpmcounter3 to 31.
 *
 * mhpmevent, from the lowest bit on; Sscofpmf's bits above them are in core/machine.h:
 *
 *     11..0   event: the number of its row in event.def, from 1 on, as `list events` shows it; 0 counts nothing
 *     27..12  mask: sub-events, in the order of `list events`; 0: all
 *     39..28  threshold: cycles in which the value is at least this; 0: none
 *     40      edge
 *     41      invert: below the threshold, or falling edges; needs one of the two
 *     43..42  path: 0 the event's standard, 1 what retires, 2 all, wrong path included
 *     55..44  0
 *
 * What is not one of these, what its counter cannot count by the core's rules, and all of a counter that the core does
 * not have, reads back as event 0. There are as many counters as pmu.counters says, from mhpmcounter3 on.
 *
 * Limits: addresses, classes and marks (event_spec.h) have no place here. Events that only instructions tell cannot be
 * counted while a command observes some instructions and not all (`stack`, `record --profileme`). */
#ifndef CYCLESCOPE_PMU_MACHINE_PMU_H
#define CYCLESCOPE_PMU_MACHINE_PMU_H

#include "core/machine.h"
#include "pmu/event_spec.h"

unsigned event_number(const struct event *e); /* in mhpmevent */

/* The mhpmevent of a specification, MINH and UINH included; -EINVAL with a sentence if it has none. */
int event_encode(const struct event_spec *s, uint64_t *code, struct error *err) MUST_CHECK;
/* The other way; false if it is no event. */
bool event_decode(uint64_t code, struct event_spec *s);

/* These count by pmu.h. */
extern const struct machine_counters pmu_machine_counters;

#endif
