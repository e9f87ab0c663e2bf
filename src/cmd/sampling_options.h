/* The options of commands that count many events by turns on few counters, and the plan that they make. */
#ifndef CYCLESCOPE_CMD_SAMPLING_OPTIONS_H
#define CYCLESCOPE_CMD_SAMPLING_OPTIONS_H

#include "base/options.h"
#include "monitor/estimate.h"
#include "monitor/plan.h"

struct sampling_options {
    uint64_t round, slice, seed;
    const char *order, *mode, *estimator; /* as given, or NULL */
    const char *by;                       /* cycles or insns, or NULL; the command's own option sets it */
    struct plan_options plan;             /* from the above */
    const struct estimator *estimating;
};

void sampling_options_init(struct sampling_options *s);

/* Rows for a command's option table. */
#define SAMPLING_OPTION_ROWS(s)                                                                                        \
    {"slice", OPTION_COUNT, &(s)->slice, "N", "a group of events has the counters for N cycles (200K)"},               \
        {"round", OPTION_COUNT, &(s)->round, "N", "each group has its turns within N cycles (as many as it takes)"},   \
        {"order", OPTION_STRING, &(s)->order, "ORDER", "of turns in a round: random (the default) or fixed"},          \
        {"order-seed", OPTION_COUNT, &(s)->seed, "N", "another random order (0)"},                                     \
        {"mode", OPTION_STRING, &(s)->mode, "MODE", "what counts of events that do not say: user, machine or both"},   \
    {                                                                                                                  \
        "estimator", OPTION_STRING, &(s)->estimator, "NAME", "how counts are made whole; `list estimators` has them"   \
    }

/* Fills `plan` and `estimating`. 0 or a negative code. */
int sampling_options_finish(struct sampling_options *s, struct error *err) MUST_CHECK;

/* Whether any of these options was given. */
bool sampling_options_given(const struct sampling_options *s);

#endif
