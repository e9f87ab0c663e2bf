/* Strata: phases of a sampled run, divided into parts whose units look alike to warming.
 *
 * Warming counts misses, mispredictions and transfers in every unit. The square roots of these counts are the vector of
 * a unit: chance changes each of them by about as much, whether the count is large or small. k-means divides the units
 * of each phase into strata. A kind of units that is rare, but unlike all others, so has a stratum of its own; if every
 * stratum is measured, no kind of units is missed.
 *
 * The windows of a phase were drawn by chance, so those of a stratum were, too: strata may be made when the run has
 * ended. */
#ifndef CYCLESCOPE_PHASES_STRATA_H
#define CYCLESCOPE_PHASES_STRATA_H

#include "phases/combine.h"

/* Divides the phases of a run into about `most` strata, more where there are more units and where these differ more.
 * They become the phases of the run. -ENOMEM with a message: phases stay as they are. */
int strata_divide(struct sampled_run *s, unsigned most, struct error *err) MUST_CHECK;
/* Strata with fewer measured windows than `least` join the nearest stratum of the same phase that has as many. Call it
 * at most once. */
void strata_join(struct sampled_run *s, size_t least);
/* Frees what only strata have; phases stay as they are. */
void strata_forget(struct sampled_run *s);

#endif
