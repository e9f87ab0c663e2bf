/* The counts of a simulation by name, shared by all report formats.
 *
 * A name that ends in `_spec` includes the wrong path. Without `_spec`, core counts (core/count.def) cover instructions
 * that retired, and counts of the memory hierarchy cover accesses on the right path.
 *
 * `l1d_misses` counts instructions and `l1d_access_misses` counts accesses. Several loads that wait for one line are
 * one miss each, at every level that the line passes through, but the second cache is accessed only once.
 * `l1d_primary_misses` counts the lines that were requested. */
#ifndef CYCLESCOPE_REPORT_COUNTS_H
#define CYCLESCOPE_REPORT_COUNTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/simulate.h"
#include "sim/warm_count.h"

struct count_row {
    const char *name;
    const char *help;
    uint16_t offset;       /* byte offset of a uint64_t in struct simulation_counts */
    uint16_t minus;        /* byte offset of the uint64_t that is subtracted from it, or NO_COUNT */
    enum warm_trust trust; /* error that functional warming adds to an estimate of this count */
};

enum { NO_COUNT = UINT16_MAX };

extern const struct count_row count_rows[];
extern const size_t count_row_count;

const struct count_row *count_find(const char *name); /* NULL: no count has this name */
uint64_t count_value(const struct simulation_counts *c, const struct count_row *row);
json_t *counts_json(const struct simulation_counts *c); /* object of all count_rows by name, owned by the caller */

/* Cycles by the reason why a stage stopped, and by what the oldest instruction waited for. Each cycle has exactly one
 * reason per row, so the reasons of a row sum to the cycles of the run. */
struct stage_reason {
    const char *name;
    const char *help;
};

struct stage_row {
    const char *name;
    const char *help;
    uint16_t offset;  /* byte offset of an array of uint64_t, one per reason, in struct simulation_counts */
    uint16_t reasons; /* length of the array */
    const struct stage_reason *reason;
};

enum stage_row_index { STAGE_ROW_FETCH, STAGE_ROW_DISPATCH, STAGE_ROW_ISSUE, STAGE_ROW_COMMIT, STAGE_ROW_HEAD, STAGES };
extern const struct stage_row stage_rows[STAGES];

/* Cycles of `row` with this reason, an index into row->reason. */
uint64_t stage_cycles(const struct simulation_counts *c, const struct stage_row *row, unsigned reason);

#endif
