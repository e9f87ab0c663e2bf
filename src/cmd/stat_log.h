/* The log of a run whose counters took turns, read again: `stat --from`. */
#ifndef CYCLESCOPE_CMD_STAT_LOG_H
#define CYCLESCOPE_CMD_STAT_LOG_H

#include "cmd/guest_run.h"
#include "monitor/estimate.h"

/* Where the report goes. */
struct stat_log_output {
    const struct own_output *own;
    struct own_file *csv, *json;
    bool quiet;
};

/* Reports a log as if its run had just ended. `by`: the estimator, NULL for the one that the run had. 0 or a negative
 * code. */
int stat_log(const char *path, const struct estimator *by, const struct stat_log_output *to,
             struct error *err) MUST_CHECK;

#endif
