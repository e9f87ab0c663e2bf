/* The tool's side of the sampler: writes the plan into the shared memory (sampler_memory.h) and turns records into
 * slices.
 *
 * The sink receives the slices of a context in order and without gaps. Where records were lost, one idle slice covers
 * their time: its cycles and instructions are known, its counts are not. */
#ifndef CYCLESCOPE_SAMPLER_SAMPLER_H
#define CYCLESCOPE_SAMPLER_SAMPLER_H

#include "base/error.h"
#include "sampler/sampler_memory.h"
#include "sampler/plan.h"
#include "sampler/slice.h"

/* Receives each slice; `s` is valid during the call. */
typedef void sampler_sink(void *context, const struct slice *s);

struct sampler;

/* A sampler for `contexts` programs. The ring of each program has room for at least `records` records between two calls
 * of sampler_drain. The plan belongs to the caller and must outlive the sampler. NULL with a message if the plan
 * exceeds the sampler's limits or memory runs out. */
struct sampler *sampler_new(const struct plan *plan, uint32_t contexts, uint64_t records, sampler_sink *sink,
                            void *sink_context, struct error *err) MUST_CHECK;
void sampler_free(struct sampler *s);

/* Size of the memory that the sampler shares with the tool. */
size_t sampler_bytes(const struct sampler *s);
/* Writes the plan into `memory`, which must be 0. The sampler may run afterwards. */
void sampler_load(struct sampler *s, struct sampler_memory *memory);

/* Present values of the counters of a context. */
struct sampler_reading {
    uint64_t cycles, insns;
    uint64_t counter[SAMPLER_COUNTERS];
};

/* Measuring of a context begins: its first slice starts here, with a new round, and earlier slices are dropped. This
 * function and sampler_end write records, and may be called in another process that shares the memory. `now` is used if
 * `context` runs at present; the values of any other context are in the memory already. */
void sampler_begin(const struct sampler *s, struct sampler_memory *memory, uint32_t context,
                   const struct sampler_reading *now);
/* Measuring of a context ends, and with it the last slice, which may be short. */
void sampler_end(const struct sampler *s, struct sampler_memory *memory, uint32_t context,
                 const struct sampler_reading *now);

/* Takes all records out of the rings and passes their slices to the sink. */
void sampler_drain(struct sampler *s);

uint32_t sampler_counters(const struct sampler *s); /* physical counters in use */
uint64_t sampler_lost(const struct sampler *s);     /* records that found no room so far */

#endif
