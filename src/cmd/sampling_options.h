/* The options of commands that multiplex many events on few counters. They make the options of a plan. */
#ifndef CYCLESCOPE_CMD_SAMPLING_OPTIONS_H
#define CYCLESCOPE_CMD_SAMPLING_OPTIONS_H

#include "base/options.h"
#include "sampler/estimate.h"
#include "sampler/plan.h"

struct sampling_options {
    uint64_t round, slice;                    /* lengths in the unit below; 0: not given */
    uint64_t seed;                            /* of the random order of slices */
    const char *order, *mode, *estimator;     /* text of the options, or NULL */
    const char *unit;                         /* "cycles" or "insns"; NULL: cycles; the command itself sets it */
    struct plan_options plan;                 /* result; set by sampling_options_finish */
    const struct estimator *chosen_estimator; /* result: the estimator that `estimator` names */
};

void sampling_options_init(struct sampling_options *s);

/* Rows for a command's option table. */
#define SAMPLING_OPTION_ROWS(s)                                                                                        \
    {"slice", OPTION_POSITIVE, &(s)->slice, "N", "length of a slice, in which one group has the counters (200K)"},     \
        {"round", OPTION_POSITIVE, &(s)->round, "N", "length of a round, in which all groups have slices (minimum)"},  \
        {"order", OPTION_STRING, &(s)->order, "ORDER", "order of slices in a round: random (default) or fixed"},       \
        {"order-seed", OPTION_COUNT, &(s)->seed, "N", "seed of the random order (0)"},                                 \
        {"mode", OPTION_STRING, &(s)->mode, "MODE",                                                                    \
         "mode of events without :u or :m: user (default), machine or both"},                                          \
    {                                                                                                                  \
        "estimator", OPTION_STRING, &(s)->estimator, "NAME",                                                           \
            "how totals are estimated from slices; see `list estimators`"                                              \
    }

/* Checks the options and sets `plan` and `chosen_estimator`. Returns 0 or a negative code. */
int sampling_options_finish(struct sampling_options *s, struct error *err) MUST_CHECK;

/* Returns true if any of these options was given. */
bool sampling_options_given(const struct sampling_options *s);

#endif
