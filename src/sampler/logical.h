/* Logical counters: the sampler executes a plan on the simulated core, and its slices become estimates of each
 * program's events. A callback can receive every slice as well. */
#ifndef CYCLESCOPE_SAMPLER_LOGICAL_H
#define CYCLESCOPE_SAMPLER_LOGICAL_H

#include "sampler/core_sampler.h"
#include "sampler/estimate.h"

struct logical_config {
    const struct plan *plan; /* belongs to the caller, as all pointers here */
    const struct estimator *estimator;
    unsigned programs;           /* programs that share the core */
    uint64_t quantum;            /* most instructions that a program runs before its slices are read */
    sampler_sink *slice;         /* called with each slice, before the estimates include it; NULL: none */
    void *slice_context;         /* argument of `slice` */
    estimate_round_ready *ready; /* called for each round of the first program; NULL: none */
    void *ready_context;         /* argument of `ready` */
};

struct logical;

/* Sets the firmware of the simulation to the sampler. The result must stay until the simulation has ended. NULL with a
 * message on failure. */
struct logical *logical_new(const struct logical_config *c, struct simulation *s, struct error *err) MUST_CHECK;
void logical_free(struct logical *l);

/* Call when the simulation has ended well: completes the estimates. Returns the first error that occurred while slices
 * came in. */
int logical_finish(struct logical *l, struct error *err) MUST_CHECK;

/* The total of an event (an index of plan.event) in a program. */
struct estimate logical_total(const struct logical *l, unsigned program, size_t event);
uint64_t logical_cycles(const struct logical *l, unsigned program); /* cycles of a program in user mode */
uint64_t logical_insns(const struct logical *l, unsigned program);  /* instructions of a program in user mode */
uint64_t logical_lost(const struct logical *l);                     /* slices with lost counts, of all programs */

#endif
