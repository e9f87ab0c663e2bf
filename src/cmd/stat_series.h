/* `stat --interval`: counts over time. */
#ifndef CYCLESCOPE_CMD_STAT_SERIES_H
#define CYCLESCOPE_CMD_STAT_SERIES_H

#include "base/options.h"
#include "cmd/guest_run.h"
#include "report/series_report.h"

struct stat_series {
    /* ---- options */
    uint64_t interval;       /* instructions; UINT64_MAX: no series */
    const char *svg_path;    /* NULL, "-" or a file */
    const char *phases_path; /* what `phases --csv` wrote, or NULL */
    /* ---- what comes of them */
    bool chosen;                  /* events of -e; else the metrics of the paper */
    struct series *series;        /* NULL: not asked for */
    struct series_metric *metric; /* of the events, if they are chosen */
    struct series_phase *phase;
    size_t phases;
    struct own_file svg;
};

#define STAT_SERIES_INIT                                                                                               \
    {                                                                                                                  \
        .interval = UINT64_MAX                                                                                         \
    }

/* Rows for the command's option table. */
#define STAT_SERIES_ROWS(s)                                                                                            \
    {"interval", OPTION_COUNT, &(s)->interval, "N", "a series: counts and metrics of every N instructions"},           \
        {"svg", OPTION_STRING, &(s)->svg_path, "FILE", "with --interval: draw the series; - is standard output"},      \
    {                                                                                                                  \
        "phases", OPTION_STRING, &(s)->phases_path, "FILE",                                                            \
            "with --interval: phases, as `phases --csv` writes them, under the graphs"                                 \
    }

static inline bool stat_series_asked(const struct stat_series *s)
{
    return s->interval != UINT64_MAX;
}

int stat_series_check(const struct stat_series *s, struct error *err) MUST_CHECK; /* the options by themselves */
/* Adds the events that a series has without -e. */
int stat_series_events(struct stat_series *s, struct event_specs *specs, struct error *err) MUST_CHECK;
/* The simulation is to count in intervals. */
int stat_series_begin(struct stat_series *s, const struct event_specs *specs, struct simulation *simulation,
                      struct error *err) MUST_CHECK;
int stat_series_open(struct stat_series *s, const struct own_output *own, struct error *err) MUST_CHECK;
/* What a run is reported by. */
struct series_report stat_series_report(const struct stat_series *s, const struct run_report *run,
                                        const struct event_specs *specs);
void stat_series_free(struct stat_series *s);

/* ---- phase_strip.c */

/* Reads the intervals and clusters that `phases --csv` wrote. */
int phase_strip_read(const char *path, struct series_phase **phase, size_t *count, struct error *err) MUST_CHECK;

#endif
