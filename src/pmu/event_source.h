/* Where the values of events come from. An event has one or more of three kinds of source:
 *
 *     instructions  a predicate decides whether an instruction counts, at one moment of its life. The only source that
 *                   can be filtered by address and class, and the slowest
 *     counts        numbers that the simulator keeps anyway. The value of a cycle is the growth of the numbers in it
 *     cycles        a function computes the value of a cycle from its record
 *
 * If an event has several sources, they agree on every run. Instructions and counts have one source per path. Functions
 * get the selected sub-events as a bit set (event_selection). Sub-events do not overlap: the value of a selection is
 * the sum of the values of its bits.
 *
 * Limits: instructions and counts agree from an empty pipeline to an empty pipeline. In single cycles, instructions may
 * count an event a few cycles later than counts do. */
#ifndef CYCLESCOPE_PMU_EVENT_SOURCE_H
#define CYCLESCOPE_PMU_EVENT_SOURCE_H

#include "sim/simulate.h"
#include "pmu/event.h"

/* When a predicate is applied to an instruction: the callbacks of struct core_observer. */
enum insn_moment {
    MOMENT_FETCHED,
    MOMENT_DISPATCHED,
    MOMENT_ISSUED,    /* every issue, re-issues included */
    MOMENT_EXECUTED,  /* issued and not rejected: once. A memory access has started */
    MOMENT_COMPLETED, /* its result is available */
    MOMENT_MISPREDICTED,
    MOMENT_COMMITTED,
    MOMENT_SQUASHED,
    MOMENTS
};

/* Whether this instruction counts as one of the selected sub-events. */
typedef bool insn_predicate(const struct insn_view *v, uint32_t selection);
/* The value of each cycle with this record, for the selected sub-events. */
typedef uint64_t cycle_value(const struct cycle_record *r, uint32_t selection);

/* A count that is added to, or subtracted from, the value of an event. */
struct count_term {
    uint16_t offset; /* of the count, a uint64_t, in struct simulation_counts */
    int8_t sign;     /* 1 or -1; 0 ends a list */
    uint32_t bits;   /* sub-events that the count belongs to; EVENT_ALL if the event has no mask */
};

/* The sources of an event for one path. */
struct path_source {
    insn_predicate *of_insn;        /* NULL: instructions are no source */
    uint32_t moments;               /* when of_insn is applied: a bit for each enum insn_moment */
    const struct count_term *terms; /* counts, ended by a sign of 0; NULL: counts are no source */
    bool strides;                   /* of_insn needs the results of stride predictors (core/strides.h) */
};

struct event_source {
    struct path_source retired; /* also used by events with PATH_NONE */
    struct path_source spec;
    cycle_value *of_cycle; /* NULL: cycles are no source */
    bool per_stall; /* of_cycle is applied once to the last record of a stall (stall_meter.h), times its cycles */
};

#define EVENT_ALL UINT32_MAX

extern const struct event_source event_sources[]; /* in the order of `events` */

/* The sources of an event for a path. `path` is PATH_NONE for an event without paths. */
const struct path_source *event_source_of(const struct event *e, uint8_t path);

/* The selection that a mask of sub-events stands for: EVENT_ALL for 0 and for all bits. */
uint32_t event_selection(const struct event *e, uint32_t mask);

/* Whether the selected sub-events have counts of their own, separate from the other sub-events. */
bool event_is_counted(const struct path_source *s, uint32_t selection);

/* Whether addresses and classes can select this event on this path. */
static inline bool event_is_attributed(const struct event *e, uint8_t path)
{
    return event_source_of(e, path)->of_insn != NULL;
}

#endif
