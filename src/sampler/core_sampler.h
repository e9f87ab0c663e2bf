/* The sampler on the simulated core: its firmware, which is linked into this program, and the hooks that take slices
 * out of its memory.
 *
 * The firmware runs in machine mode and costs the cycles that it takes. Slices do not cover what the simulation skips
 * or warms up. */
#ifndef CYCLESCOPE_SAMPLER_CORE_SAMPLER_H
#define CYCLESCOPE_SAMPLER_CORE_SAMPLER_H

#include "sim/simulate.h"
#include "sampler/sampler.h"

struct core_sampler {
    struct sampler *sampler;
    struct simulation_firmware_hooks firmware_hooks;
    struct sampler_memory *memory; /* in the memory of the core's firmware; set by the hook `prepare` */
};

/* Sets the firmware of the simulation to the sampler. `programs` programs share the core; each runs at most `quantum`
 * instructions between two calls of the hook `drain`. `c` and `plan` must stay in place until the simulation has ended.
 */
int core_sampler_init(struct core_sampler *c, const struct plan *plan, struct simulation *s, uint32_t programs,
                      uint64_t quantum, sampler_sink *sink, void *sink_context, struct error *err) MUST_CHECK;
void core_sampler_free(struct core_sampler *c);

#endif
