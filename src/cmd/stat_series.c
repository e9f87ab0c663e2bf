#include "cmd/stat_series.h"

#include <errno.h>
#include <stdlib.h>

int stat_series_check(const struct stat_series *s, struct error *err)
{
    if (s->interval == 0)
        return error_set(err, -EINVAL, "--interval must be at least 1");
    if (s->svg_path && !stat_series_asked(s))
        return error_set(err, -EINVAL, "--svg needs --interval N: it draws counts over time");
    if (s->phases_path && !stat_series_asked(s))
        return error_set(err, -EINVAL, "--phases needs --interval N: phases are shown under the graphs over time");
    return 0;
}

int stat_series_events(struct stat_series *s, struct event_specs *specs, struct error *err)
{
    s->chosen = specs->count > 0;
    return s->chosen || !stat_series_asked(s) ? 0 : event_specs_parse(specs, series_default_events, err);
}

int stat_series_begin(struct stat_series *s, const struct event_specs *specs, struct simulation *simulation,
                      struct error *err)
{
    if (s->phases_path && phase_strip_read(s->phases_path, &s->phase, &s->phases, err) != 0)
        return -EINVAL;
    if (s->chosen) {
        s->metric = calloc(specs->count, sizeof *s->metric);
        if (s->metric == NULL)
            return error_set(err, -ENOMEM, "out of memory for events");
        series_event_metrics(specs, s->metric);
    }
    s->series = series_new(specs, s->interval, err);
    if (s->series == NULL)
        return -EINVAL;
    simulation->observer = series_observer(s->series);
    simulation->sum = series_sum(s->series);
    return 0;
}

int stat_series_open(struct stat_series *s, const struct own_output *own, struct error *err)
{
    return own_file_open(&s->svg, own, "--svg", s->svg_path, err);
}

struct series_report stat_series_report(const struct stat_series *s, const struct run_report *run,
                                        const struct event_specs *specs)
{
    return (struct series_report){.run = run,
                                  .specs = specs,
                                  .series = s->series,
                                  .metric = s->chosen ? s->metric : series_default_metrics,
                                  .metrics = s->chosen ? specs->count : SERIES_METRICS,
                                  .phase = s->phase,
                                  .phases = s->phases};
}

void stat_series_free(struct stat_series *s)
{
    series_free(s->series);
    free(s->metric);
    free(s->phase);
}
