/* Logical counters: a plan carried out by the sampling engine on the simulated core, and what it tells of each program.
 *
 * Slices go to the estimates of their program, and to whoever else asks. */
#ifndef CYCLESCOPE_MONITOR_LOGICAL_H
#define CYCLESCOPE_MONITOR_LOGICAL_H

#include "monitor/core_sampler.h"
#include "monitor/estimate.h"

struct logical_config {
    const struct plan *plan; /* stays the caller's, as all does */
    const struct estimator *estimator;
    unsigned programs;           /* that share the core */
    uint64_t quantum;            /* most instructions between two looks at the engine's log */
    sampler_sink *slice;         /* is told each slice before it is counted in, or NULL */
    void *slice_context;         /* its own */
    estimate_round_ready *ready; /* of the first program, or NULL */
    void *ready_context;         /* its own */
};

struct logical;

/* Makes the simulation one with the sampling engine. */
struct logical *logical_new(const struct logical_config *c, struct simulation *s, struct error *err) MUST_CHECK;
void logical_free(struct logical *l);

/* The simulation has ended well. What went wrong on the way comes out here. */
int logical_finish(struct logical *l, struct error *err) MUST_CHECK;

struct estimate logical_total(const struct logical *l, unsigned program, size_t event);
uint64_t logical_cycles(const struct logical *l, unsigned program); /* in user mode, as are ... */
uint64_t logical_insns(const struct logical *l, unsigned program);
uint64_t logical_lost(const struct logical *l); /* slices whose counts had no room */

#endif
