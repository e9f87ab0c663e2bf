/* How many samples of an event are charged to what did not cause them; known of recordings with the truth. */
#ifndef CYCLESCOPE_REPORT_PROFILE_TRUTH_H
#define CYCLESCOPE_REPORT_PROFILE_TRUTH_H

#include "report/profile_names.h"

struct profile_truth {
    uint64_t samples;                    /* whose cause is known */
    uint64_t other_insn, other_function; /* of these, charged to another instruction, and to another function */
};

struct profile_truth profile_truth_of(const struct profile_names *n, unsigned event);

#endif
