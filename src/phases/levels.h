/* A signal at several resolutions, each half as fine as the one before, for the analysis of periods.
 *
 * A period shows best where it is 6 to 40 samples long. In finer samples, noise and small loops hide it; in coarser
 * ones it disappears. So all resolutions are analyzed at once. Each is smoothed (binomial filter 1 3 3 1) before every
 * second sample is dropped; without that, a short period that is no multiple of the samples would leave beats, which
 * look like long periods. */
#ifndef CYCLESCOPE_PHASES_LEVELS_H
#define CYCLESCOPE_PHASES_LEVELS_H

#include "phases/fine_signal.h"
#include "phases/run_signal.h"

enum { LEVELS = 24, LEVEL_LEAST = 24 }; /* most levels; fewest samples of a level */

struct level {
    struct run_signal signal; /* normalized samples with an average length of 1 */
    double interval;          /* instructions from one sample to the next */
};

struct levels {
    struct level level[LEVELS]; /* the finest first */
    unsigned count;
};

/* Makes the levels of `count` samples of `interval` instructions. With `smooth`, as described above; else neighbors are
 * added up, so that what belongs to different samples is not mixed. There is at least one level if there is a sample. 0
 * or -ENOMEM. Call levels_free in both cases. */
int levels_make(struct levels *to, const struct fine_sample *sample, size_t count, double interval,
                bool smooth) MUST_CHECK;
void levels_free(struct levels *l);

#endif
