/* A profile as text, JSON and CSV: by function, source line, instruction, module, call tree or data.
 *
 * For each event, the counts of all rows on a text page sum to the event's weight: rows below the limit are summed in
 * one row at the end. If no row reaches the limit, the first PROFILE_FEW are shown nevertheless. JSON and CSV list all
 * rows. */
#ifndef CYCLESCOPE_REPORT_PROFILE_REPORT_H
#define CYCLESCOPE_REPORT_PROFILE_REPORT_H

#include "report/profile_columns.h"

enum { PROFILE_FEW = 10 };

struct profile_report {
    const struct profile_names *names;
    const char *version; /* of Cyclescope */
    enum profile_by by;
    unsigned first, last; /* range of events that are shown, both included; a call tree shows `first` only */
    unsigned sort;        /* event by which rows are sorted */
    double limit_percent; /* rows with less than this share of every event are summed in one row */
    bool children;        /* also show inclusive counts */
    const char *function; /* show only this function; NULL: all */
    uint64_t line_bytes;  /* size of a cache line, a power of two, for PROFILE_BY_DATA */
    unsigned columns;     /* width of the text page */
};

/* 0, or a negative code with a message. The caller checks `to` for write errors. */
int profile_report_print(const struct profile_report *r, FILE *to, bool color, struct error *err) MUST_CHECK;
int profile_report_json(const struct profile_report *r, FILE *to, struct error *err) MUST_CHECK;
int profile_report_csv(const struct profile_report *r, FILE *to, struct error *err) MUST_CHECK;

/* ---- shared by profile_report*.c */

struct profile_columns profile_report_columns(const struct profile_report *r, bool color);
/* Whether `function`, an index into names->function, passes the filter r->function. */
bool profile_report_wants(const struct profile_report *r, uint32_t function);
/* The head of the page: the run and its events. `intervals`: also explain the intervals of shares, for a page that has
 * such columns. */
void profile_report_head(const struct profile_report *r, bool intervals, FILE *to);
int profile_report_tree(const struct profile_report *r, FILE *to, bool color, struct error *err) MUST_CHECK;
int profile_report_data(const struct profile_report *r, FILE *to, bool color, struct error *err) MUST_CHECK;

/* The instruction as "main" or "main+0x1c". */
void place_text(const struct profile_names *n, const struct profile_place *p, char *text, size_t size);

#endif
