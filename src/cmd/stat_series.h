/* `stat --interval`: counts over time, one row of counts per interval of instructions. */
#ifndef CYCLESCOPE_CMD_STAT_SERIES_H
#define CYCLESCOPE_CMD_STAT_SERIES_H

#include "base/options.h"
#include "cmd/guest_run.h"
#include "report/series_report.h"

struct stat_series {
    /* ---- options */
    uint64_t interval;       /* instructions per interval; UINT64_MAX: no series */
    const char *svg_path;    /* NULL, "-" or a file */
    const char *phases_path; /* file that `phases --csv` wrote, or NULL */
    /* ---- set by the functions below */
    bool chosen;                  /* -e was given; otherwise the series shows the metrics of the paper */
    struct series *series;        /* NULL: no series */
    struct series_metric *metric; /* one per event of -e; NULL without -e */
    struct series_phase *phase;   /* phases of the file, in order */
    size_t phases;                /* number of phases */
    struct output_file svg;
};

#define STAT_SERIES_INIT                                                                                               \
    {                                                                                                                  \
        .interval = UINT64_MAX                                                                                         \
    }

/* Rows for the command's option table. */
#define STAT_SERIES_ROWS(s)                                                                                            \
    {"interval", OPTION_POSITIVE, &(s)->interval, "N", "show a series: counts and metrics of every N instructions"},   \
        {"svg", OPTION_STRING, &(s)->svg_path, "FILE",                                                                 \
         "with --interval: draw the series as SVG; - is standard output"},                                             \
    {                                                                                                                  \
        "phases", OPTION_STRING, &(s)->phases_path, "FILE",                                                            \
            "with --interval: show phases under the graphs; FILE is from `phases --csv`"                               \
    }

static inline bool stat_series_asked(const struct stat_series *s)
{
    return s->interval != UINT64_MAX;
}

/* Checks the options of the series. */
int stat_series_check(const struct stat_series *s, struct error *err) MUST_CHECK;
/* Adds the default events of a series to `specs`, if a series is wanted and `specs` is empty. */
int stat_series_events(struct stat_series *s, struct event_specs *specs, struct error *err) MUST_CHECK;
/* Reads the phases, creates the series and makes the simulation count in intervals. */
int stat_series_begin(struct stat_series *s, const struct event_specs *specs, struct simulation *simulation,
                      struct error *err) MUST_CHECK;
/* Opens the file of --svg. */
int stat_series_open(struct stat_series *s, const struct own_output *own, struct error *err) MUST_CHECK;
/* Returns a report of the series, which refers to the arguments. */
struct series_report stat_series_report(const struct stat_series *s, const struct run_report *run,
                                        const struct event_specs *specs);
void stat_series_free(struct stat_series *s);

/* ---- phase_strip.c */

/* Reads the intervals and their clusters from a file that `phases --csv` wrote. The caller frees `*phase`. */
int phase_strip_read(const char *path, struct series_phase **phase, size_t *count, struct error *err) MUST_CHECK;

#endif
