/* The statistical stall breakdown: the cycles of an interval are completion cycles and stalls by source.
 *
 * A stall is a run of cycles in which nothing retires. Cycles with an empty window are charged to the most recent
 * instruction miss or misprediction. Any other stall is charged as a whole to what finished last before retirement went
 * on (pmu/stall_meter.h). In every interval, completion and stalls sum to its cycles.
 *
 * A sink receives the intervals one by one while the program runs. Here they are made of exact counts; stall_monitor.h
 * can make them of logical counters. */
#ifndef CYCLESCOPE_SAMPLER_STALLS_H
#define CYCLESCOPE_SAMPLER_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sim/simulate.h"
#include "sampler/plan.h"

enum stall_source {
    STALL_ICACHE,      /* an instruction miss, in a cache or a TLB */
    STALL_BRANCH,      /* a misprediction */
    STALL_DCACHE,      /* a data miss */
    STALL_TRANSLATION, /* a data TLB miss */
    STALL_REJECT,      /* an instruction that a unit rejected */
    STALL_FPU,         /* latency of a floating-point unit */
    STALL_INTEGER,     /* latency of an integer unit */
    STALL_OTHER,       /* cache hits, full store buffers, serialization */
    STALL_SOURCES
};

struct stall_row {
    const char *key;   /* name in JSON and CSV */
    const char *label; /* name in reports */
    const char *event; /* event that counts these cycles, as after -e */
};

extern const struct stall_row stall_rows[STALL_SOURCES];
extern const struct stall_row stall_completion_row;

struct stall_interval {
    uint64_t first_insn, first_cycle; /* position in the program at which the interval begins */
    uint64_t insns, cycles;           /* length */
    uint64_t completion;              /* cycles in which something retired */
    uint64_t stalls[STALL_SOURCES];   /* cycles of stalls, by source */
    uint64_t error[STALL_SOURCES];    /* half width of the 95 % interval of `stalls`; 0: exact */
};

/* Adds the cycles and instructions of `i`. Errors add up as those of independent estimates, √(a² + b²). */
void stall_interval_add(struct stall_interval *to, const struct stall_interval *i);

/* Receives each interval as soon as all its cycles are charged. If the interval ends within a stall, that is when the
 * stall ends. */
typedef void stall_sink(void *context, const struct stall_interval *i);

/* ---- a sink that stores all intervals */

struct stall_series {
    struct stall_interval *of;
    size_t count, room; /* elements used and allocated */
};

/* A stall_sink; its context is a struct stall_series. If memory runs out, the last interval absorbs `i`. */
void stall_series_add(void *series, const struct stall_interval *i);
void stall_series_free(struct stall_series *s);

/* ---- intervals of exact counts */

struct stalls_config {
    enum slice_clock clock; /* unit of `interval` */
    uint64_t interval;      /* length in cycles or instructions; 0: the whole run */
    bool user_only;         /* leaves cycles of machine mode out */
    stall_sink *sink;       /* NULL: none */
    void *context;          /* argument of `sink` */
};

struct stalls;

/* With intervals of N instructions, an interval ends with the cycle in which instruction N, 2 N, ... retires; with
 * intervals of N cycles, after exactly N cycles. A stall across the end of an interval is divided, and both parts are
 * charged to its source. The last interval may be short. Processes that the guest forks make no intervals, but are in
 * the total. */
struct stalls *stalls_new(const struct stalls_config *config, struct error *err) MUST_CHECK;
void stalls_free(struct stalls *s);

const struct core_observer *stalls_observer(struct stalls *s); /* for simulation.observer */
const struct simulation_sum *stalls_sum(struct stalls *s);     /* for simulation.sum */

/* The total of all processes. Valid after the simulation has returned. */
const struct stall_interval *stalls_total(const struct stalls *s);

#endif
