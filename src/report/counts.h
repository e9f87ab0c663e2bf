/* The counts of a simulation by name, for reports of any form.
 *
 * Names in `_spec` are of all, wrong path included; the same name without it is of what retired (count.def) or of
 * accesses on the right path (the memory hierarchy). `l1d_misses` are instructions, `l1d_access_misses` accesses:
 * several loads that wait for one line have all missed every level that the line comes past, but the second cache was
 * asked once. */
#ifndef CYCLESCOPE_REPORT_COUNTS_H
#define CYCLESCOPE_REPORT_COUNTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/simulate.h"
#include "core/warm_count.h"

struct count_row {
    const char *name;
    const char *help;
    uint16_t offset; /* of its uint64_t in struct simulation_counts */
    uint16_t less;   /* of another one to be subtracted, or NO_COUNT */
    enum warm_trust trust;
};

enum { NO_COUNT = UINT16_MAX };

extern const struct count_row count_rows[];
extern const size_t count_row_count;

const struct count_row *count_find(const char *name); /* NULL: there is none */
uint64_t count_value(const struct simulation_counts *c, const struct count_row *row);
json_t *counts_json(const struct simulation_counts *c); /* all rows, by name */

/* Cycles by what a stage did in them: every cycle has one reason per stage. */
struct stage_reason {
    const char *name;
    const char *help;
};

struct stage_row {
    const char *name;
    const char *help;
    uint16_t offset; /* of the array in struct simulation_counts */
    uint16_t reasons;
    const struct stage_reason *reason;
};

enum stage { STAGE_FETCH, STAGE_DISPATCH, STAGE_ISSUE, STAGE_COMMIT, STAGE_HEAD, STAGES };
extern const struct stage_row stage_rows[STAGES];

uint64_t stage_cycles(const struct simulation_counts *c, const struct stage_row *row, unsigned reason);

#endif
