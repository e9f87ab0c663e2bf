/* Where the values of events come from. An event has one or more of three kinds of source; where it has several, they
 * agree on every run:
 *
 *   instructions  whether an instruction counts, asked at one moment of its life. The only kind that can be asked for
 * by address and class, and the dearest. counts        numbers that the simulator keeps anyway; the value of a cycle is
 * how much they grew in it. cycles        the value of a cycle from its record.
 *
 * Instructions and counts differ by path. Masks are resolved before a source is asked (event_selection). Sub-events do
 * not overlap: what a mask selects is the sum of its bits.
 *
 * Limits: that instructions and counts agree holds from an empty pipeline to an empty pipeline; in single cycles an
 * event may be told by instructions a few cycles later than by counts. */
#ifndef CYCLESCOPE_PMU_EVENT_SOURCE_H
#define CYCLESCOPE_PMU_EVENT_SOURCE_H

#include "core/simulate.h"
#include "pmu/event.h"

/* When an instruction is asked for, in the words of struct core_observer. */
enum insn_moment {
    MOMENT_FETCHED,
    MOMENT_DISPATCHED,
    MOMENT_ISSUED,    /* each time, re-issues included */
    MOMENT_EXECUTED,  /* issued and not sent back: once. A memory access has its data or address under way */
    MOMENT_COMPLETED, /* its result is there */
    MOMENT_MISPREDICTED,
    MOMENT_COMMITTED,
    MOMENT_SQUASHED,
    MOMENTS
};

/* Whether this instruction counts. */
typedef bool insn_question(const struct insn_view *v, uint32_t selection);
/* What a cycle counts. */
typedef uint64_t cycle_question(const struct cycle_record *r, uint32_t selection);

/* One of the numbers that a value is the sum of. */
struct count_term {
    uint16_t offset; /* of its uint64_t in struct simulation_counts */
    int8_t sign;     /* 1 or -1; 0 ends a list */
    uint32_t bits;   /* sub-events that it is of; EVENT_ALL in an event without a mask */
};

struct path_source {
    insn_question *of_insn;         /* NULL: cannot be told by instructions */
    uint32_t moments;               /* at which it is asked, one bit each of enum insn_moment */
    const struct count_term *terms; /* NULL: nobody counts it */
    bool strides;                   /* of_insn asks what stride predictors would have done (core/strides.h) */
};

struct event_source {
    struct path_source retired; /* of events of no path, too */
    struct path_source spec;
    cycle_question *of_cycle; /* NULL: a record does not tell */
    bool whole; /* it is asked of stalls as wholes, when they end (stall_meter.h): the value is that of all their cycles
                 */
};

#define EVENT_ALL UINT32_MAX

extern const struct event_source event_sources[]; /* in the order of `events` */

/* The source of an event's path; with PATH_NONE of an event that has none. */
const struct path_source *event_source_of(const struct event *e, uint8_t path);

/* The sub-events that a mask stands for: 0 and all of them are EVENT_ALL. */
uint32_t event_selection(const struct event *e, uint32_t mask);

/* Whether counts tell these sub-events apart from the others. */
bool event_is_counted(const struct path_source *s, uint32_t selection);
/* Their sum, if so. */
uint64_t event_counts(const struct path_source *s, uint32_t selection, const struct simulation_counts *c);

/* Whether an event can be asked for by address and class on this path. */
static inline bool event_is_attributed(const struct event *e, uint8_t path)
{
    return event_source_of(e, path)->of_insn != NULL;
}

#endif
