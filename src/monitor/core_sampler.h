/* The sampling engine on the simulated core: its firmware, which is part of the program, and how slices come from it.
 *
 * It runs in machine mode at its real cost. What is skipped or warmed up is in no slice. */
#ifndef CYCLESCOPE_MONITOR_CORE_SAMPLER_H
#define CYCLESCOPE_MONITOR_CORE_SAMPLER_H

#include "core/simulate.h"
#include "monitor/sampler.h"

struct core_sampler {
    struct sampler *sampler;
    struct simulation_beside beside;
    struct engine *engine; /* its memory */
};

/* Makes the simulation one with the engine. `programs` share the core; a program runs at most `quantum` instructions
 * before slices are taken out. All stays where it is until the simulation has ended. */
int core_sampler_init(struct core_sampler *c, const struct plan *plan, struct simulation *s, uint32_t programs,
                      uint64_t quantum, sampler_sink *sink, void *sink_context, struct error *err) MUST_CHECK;
void core_sampler_free(struct core_sampler *c);

#endif
