/* `stat --from`: reports the log of a run with multiplexed counters again. */
#ifndef CYCLESCOPE_CMD_STAT_LOG_H
#define CYCLESCOPE_CMD_STAT_LOG_H

#include "cmd/guest_run.h"
#include "sampler/estimate.h"

/* The output of the report. */
struct stat_log_output {
    const struct own_output *own;
    struct output_file *csv, *json;
    bool quiet;
};

/* Reports a log as if its run had just ended. `by` is the estimator; NULL: the one that the run used. Returns 0 or a
 * negative code. */
int stat_log(const char *path, const struct estimator *by, const struct stat_log_output *to,
             struct error *err) MUST_CHECK;

#endif
