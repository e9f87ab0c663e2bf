/* static: backward branches taken, forward ones not. Loops branch backward, and compilers lay out the likely path as
 * the fall-through. Learns nothing. */
#include "branch/branch.h"

static bool predict(void *state, uint64_t pc, bool backward, uint64_t *note)
{
    (void)state;
    (void)pc;
    (void)note;
    return backward;
}

const struct direction_predictor direction_static = {
    .name = "static",
    .help = "backward taken, forward not",
    .predict = predict,
};
