/* The statistical stall breakdown: cycles as completion and stalls by source.
 *
 * A stall is a run of cycles in which nothing retires. While the window is empty it is charged to the most recent
 * instruction miss or misprediction; else, as a whole, to what finished last before retirement went on
 * (pmu/stall_meter.h). For every interval completion and stalls sum to its cycles.
 *
 * Intervals come from somewhere, here from exact counts, and go to a sink, one by one while the program runs. */
#ifndef CYCLESCOPE_MONITOR_STALLS_H
#define CYCLESCOPE_MONITOR_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/simulate.h"
#include "monitor/plan.h"

enum stall_source {
    STALL_ICACHE,      /* an instruction miss, that of a translation included */
    STALL_BRANCH,      /* a misprediction */
    STALL_DCACHE,      /* a data miss */
    STALL_TRANSLATION, /* a TLB miss of data */
    STALL_REJECT,      /* sent back by a unit */
    STALL_FPU,         /* latency of floating point */
    STALL_INTEGER,     /* latency of integer units */
    STALL_OTHER,       /* hits, full store buffers, serialization */
    STALL_SOURCES
};

struct stall_row {
    const char *key;   /* in JSON and CSV */
    const char *label; /* for people */
    const char *event; /* that counts it, as after -e */
};

extern const struct stall_row stall_rows[STALL_SOURCES];
extern const struct stall_row stall_completion_row;

struct stall_interval {
    uint64_t first_insn, first_cycle; /* of the program, where it begins */
    uint64_t insns, cycles;
    uint64_t completion; /* cycles in which something retired */
    uint64_t stalls[STALL_SOURCES];
    uint64_t error[STALL_SOURCES]; /* half of the 95 % interval of `stalls`; 0 if they were counted fully */
};

/* Cycles and instructions of both; errors are those of independent estimates. */
void stall_interval_add(struct stall_interval *to, const struct stall_interval *i);

/* Is told each interval when it is known: not before the stall has ended that it ends in. */
typedef void stall_sink(void *context, const struct stall_interval *i);

/* ---- a sink that keeps all */

struct stall_series {
    struct stall_interval *of;
    size_t count, room;
};

/* Its context is the series. Without memory for one more, the last interval grows. */
void stall_series_add(void *series, const struct stall_interval *i);
void stall_series_free(struct stall_series *s);

/* ---- intervals of exact counts */

struct stalls_config {
    enum slice_clock clock; /* of `interval` */
    uint64_t interval;      /* cycles or instructions; 0: the whole run */
    bool user_only;         /* cycles of machine mode are left out, as if they had not been */
    stall_sink *sink;       /* may be NULL */
    void *context;          /* its own */
};

struct stalls;

/* Intervals of instructions end with the cycle in which the N-th, 2 N-th ... retires, those of cycles after exactly so
 * many; a stall that goes on over that is cut, and both parts are charged to its source. The last may be short. Only
 * the process itself makes intervals; those that it forks are part of the total. */
struct stalls *stalls_new(const struct stalls_config *config, struct error *err) MUST_CHECK;
void stalls_free(struct stalls *s);

const struct core_observer *stalls_observer(struct stalls *s); /* for simulation.observer */
const struct simulation_sum *stalls_sum(struct stalls *s);     /* for simulation.sum */

/* Once the simulation has returned: of all processes. */
const struct stall_interval *stalls_total(const struct stalls *s);

#endif
