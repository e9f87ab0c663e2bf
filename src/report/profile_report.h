/* A profile as text, JSON and CSV: by function, source line, instruction, module, call tree or data.
 *
 * Of every event, the counts of all rows sum to the event's weight: rows below the limit are one row at the end. JSON
 * and CSV have all rows. */
#ifndef CYCLESCOPE_REPORT_PROFILE_REPORT_H
#define CYCLESCOPE_REPORT_PROFILE_REPORT_H

#include "report/profile_columns.h"

struct profile_report {
    const struct profile_names *names;
    const char *version; /* of the program that reports */
    enum profile_by by;
    unsigned first, last; /* events that are shown, both included; a call tree shows the first */
    unsigned sort;        /* the event that rows are sorted by */
    double limit_percent; /* rows with less of every event are summed up */
    bool children;        /* also inclusive counts */
    const char *function; /* only this one, or NULL */
    uint64_t line_bytes;  /* of a cache line, a power of two, for data */
};

/* 0, or a negative code with a sentence; errors of `to` are the caller's to see. */
int profile_report_print(const struct profile_report *r, FILE *to, bool colour, struct error *err) MUST_CHECK;
int profile_report_json(const struct profile_report *r, FILE *to, struct error *err) MUST_CHECK;
int profile_report_csv(const struct profile_report *r, FILE *to, struct error *err) MUST_CHECK;

/* ---- shared by the files of the report */

struct profile_columns profile_report_columns(const struct profile_report *r, bool colour);
/* Whether a function is to be shown. */
bool profile_report_wants(const struct profile_report *r, uint32_t function);
/* What is known of the run, and the events; what the intervals of shares mean, if there are any below. */
void profile_report_head(const struct profile_report *r, bool intervals, FILE *to);
int profile_report_tree(const struct profile_report *r, FILE *to, bool colour, struct error *err) MUST_CHECK;
int profile_report_data(const struct profile_report *r, FILE *to, bool colour, struct error *err) MUST_CHECK;

/* "main", "main+0x1c", from a place. */
void place_text(const struct profile_names *n, const struct profile_place *p, char *text, size_t size);

#endif
