/* The structure of a run: where initialization ends and which periods it has, in instructions, each with its
 * uncertainty, from the fine signal at all its resolutions. */
#ifndef CYCLESCOPE_PHASES_STRUCTURE_H
#define CYCLESCOPE_PHASES_STRUCTURE_H

#include "phases/fine_signal.h"

enum { STRUCTURE_PERIODS = 4 }; /* most periods that are reported */

/* A length in instructions, and by how much it may be wrong or may vary over the run. */
struct phase_length {
    double insns, error;
};

struct structure {
    struct phase_length init;                      /* initialization; 0: there is none */
    struct phase_length period[STRUCTURE_PERIODS]; /* ascending */
    unsigned periods;
    double correlated_period; /* the longest period by autocorrelation; 0: none */
    double least, most;       /* periods of this length could be found */
};

/* 0 or -ENOMEM. */
int structure_find(const struct fine_signal *f, struct structure *to) MUST_CHECK;

#endif
