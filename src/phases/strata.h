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

struct strata {
    struct unit_phases units;
    struct point_phase *phase; /* the head is the last one */
    unsigned phases;
    double *spread; /* by phase: root mean square distance of the vectors of its units from their mean */
    float *mean;    /* by phase: this mean */
};

/* Divides the phases of a run into about `most` strata, more where there are more units and where these differ more.
 * -ENOMEM with a message. strata_free is due in any case. */
int strata_divide(const struct sampled_run *s, unsigned most, struct strata *to, struct error *err) MUST_CHECK;
/* Strata with fewer measured windows than `least`, and with other units, join the nearest stratum. */
void strata_join(const struct sampled_run *s, struct strata *strata, size_t least);
/* The strata become the phases of the run, and `strata` becomes empty. */
void strata_adopt(struct sampled_run *s, struct strata *strata);
void strata_free(struct strata *strata);

#endif
