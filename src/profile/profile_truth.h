/* Analysis: how many samples of an event are charged to an instruction that did not cause them. Known only for
 * recordings with recorder_config.truth. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_TRUTH_H
#define CYCLESCOPE_PROFILE_PROFILE_TRUTH_H

#include "profile/profile_names.h"

struct profile_truth {
    uint64_t samples;        /* with a known cause */
    uint64_t other_insn;     /* of these, charged to another instruction */
    uint64_t other_function; /* of these, charged to an instruction of another function */
};

struct profile_truth profile_truth_of(const struct profile_names *n, unsigned event);

#endif
