/* Backward taken, forward not: loops go round, and compilers lay the likely way out straight. Learns nothing. */
#include "branch/direction.h"

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
