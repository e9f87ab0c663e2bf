/* The tool's side of the sampling engine (engine/engine.h): a plan goes into its memory, slices come out.
 *
 * Slices of a context come in order and without gaps. Where the engine had no room for records, the time that they
 * covered comes as one idle slice: its cycles and instructions are known, its counts are not. */
#ifndef CYCLESCOPE_MONITOR_SAMPLER_H
#define CYCLESCOPE_MONITOR_SAMPLER_H

#include "base/error.h"
#include "engine/engine.h"
#include "monitor/plan.h"
#include "monitor/slice.h"

typedef void sampler_sink(void *context, const struct slice *s);

struct sampler;

/* For `contexts` programs, each with room for at least so many records between two drains. The plan stays the caller's,
 * as long as the sampler is used. */
struct sampler *sampler_new(const struct plan *plan, uint32_t contexts, uint64_t records, sampler_sink *sink,
                            void *sink_context, struct error *err) MUST_CHECK;
void sampler_free(struct sampler *s);

size_t sampler_bytes(const struct sampler *s); /* of the engine's memory */
/* Writes the plan into memory that is 0. From here on the engine may run. */
void sampler_load(struct sampler *s, struct engine *memory);

/* What counters, cycles and instructions of a context stand at. */
struct sampler_reading {
    uint64_t cycles, insns;
    uint64_t counter[ENGINE_COUNTERS];
};

/* These two write to the engine's log, and may be called in another process that shares its memory. `now` is what a
 * context's counters stand at, if it is the one that the engine counts for; else they are where the engine has put
 * them. What the context has done so far does not count: its first slice begins here. */
void sampler_begin(const struct sampler *s, struct engine *memory, uint32_t context, const struct sampler_reading *now);
/* It has ended: its last slice is as long as it got. */
void sampler_end(const struct sampler *s, struct engine *memory, uint32_t context, const struct sampler_reading *now);

/* Hands on what the engine has written. */
void sampler_drain(struct sampler *s);

uint32_t sampler_counters(const struct sampler *s); /* that the engine uses: 0 on */
uint64_t sampler_lost(const struct sampler *s);     /* records for which there was no room */

#endif
