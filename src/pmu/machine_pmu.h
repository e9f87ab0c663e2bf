/* The core's PMU as firmware programs it: the encoding of mhpmevent, and the counters mhpmcounter3 to 31.
 *
 * Bits of mhpmevent; those of Sscofpmf above them are in core/machine.h:
 *
 *     11..0   event: the number of its row in event.def, from 1 on, as `list events` shows it; 0: counts nothing
 *     27..12  mask: sub-events, in the order of `list events`; 0: all
 *     39..28  threshold: count cycles in which the value is at least this, thresh= plus 1; 0: none
 *     40      edge
 *     41      invert: count cycles below the threshold, or falling edges; needs a threshold or edge
 *     43..42  path: 0 the event's default, 1 instructions that retire, 2 all, wrong path included
 *     55..44  0
 *
 * Writing an invalid code, or an event that this counter cannot count by the core's rules, reads back as event 0. So
 * does any write to a counter that the core does not have. The core has pmu.counters counters, from mhpmcounter3 on.
 *
 * Limits: addresses, classes and marks (event_spec.h) cannot be encoded. Events that have instructions as their only
 * source cannot be counted while a command observes only some instructions (`stack`, `record --profileme`). */
#ifndef CYCLESCOPE_PMU_MACHINE_PMU_H
#define CYCLESCOPE_PMU_MACHINE_PMU_H

#include "core/machine.h"
#include "pmu/event_spec.h"

unsigned event_number(const struct event *e); /* its number in mhpmevent */

/* Encodes a specification as mhpmevent, MINH and UINH included; -EINVAL with a message if it cannot be encoded. */
int event_encode(const struct event_spec *s, uint64_t *code, struct error *err) MUST_CHECK;
/* Decodes mhpmevent; false if the code is invalid. */
bool event_decode(uint64_t code, struct event_spec *s);

/* The counters of machine mode (core/machine.h), implemented by pmu.h. */
extern const struct machine_counters pmu_machine_counters;

#endif
