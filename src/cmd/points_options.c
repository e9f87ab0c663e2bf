#include "cmd/points_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "phases/choose.h"

enum { MOST_JOBS = 1024 };

bool points_options_given(const struct points_options *o)
{
    return o->points || o->systematic;
}

/* Without --points and --systematic, the other options have no meaning. */
static int check_alone(const struct points_options *o, struct error *err)
{
    if (o->weights || o->window || o->period || o->count || o->lead || o->jobs || o->keep || o->precision_text)
        return error_set(err, -EINVAL,
                         "--weights, --window, --period, --point-count, --lead, --jobs, --keep and --precision need "
                         "--points or --systematic: without them the whole run is simulated");
    return 0;
}

static int check(const struct points_options *o, const struct simulation *s, struct error *err)
{
    bool chosen = o->points && strcmp(o->points, "auto") == 0;
    if (o->points && o->systematic)
        return error_set(err, -EINVAL,
                         "--points and --systematic are different ways to choose windows: give one of them");
    if (o->weights && (o->points == NULL || chosen))
        return error_set(err, -EINVAL, "--weights needs --points FILE: the weights belong to the points of that file");
    if (o->period && !o->systematic)
        return error_set(err, -EINVAL, "--period needs --systematic: points have no period");
    if (o->count && !chosen)
        return error_set(err, -EINVAL, "--point-count needs --points auto, which chooses the points");
    if (s->skip_insns || s->max_insns)
        return error_set(err, -EINVAL,
                         "--skip and --max-insns exclude --points and --systematic, which cover the whole run");
    if (s->firmware)
        return error_set(err, -EINVAL,
                         "--firmware excludes --points and --systematic: it would start again in every window");
    return 0;
}

/* Reads --precision, such as 1% or 0.5. */
static int read_precision(struct points_options *o, struct error *err)
{
    char *end = NULL;
    if (o->precision_text == NULL) {
        o->precision = o->sized ? 0 : 0.01;
        return 0;
    }
    double percent = strtod(o->precision_text, &end);
    if (end == o->precision_text || (strcmp(end, "") != 0 && strcmp(end, "%") != 0) ||
        !(percent >= 0.01 && percent <= 100))
        return error_set(err, -EINVAL, "--precision needs a percentage from 0.01 to 100, not '%s'", o->precision_text);
    if (o->points && strcmp(o->points, "auto") != 0)
        return error_set(err, -EINVAL, "--precision excludes --points FILE: the file says which points there are");
    o->precision = percent / 100;
    return 0;
}

int points_options_finish(struct points_options *o, struct simulation *s, struct error *err)
{
    if (!points_options_given(o))
        return check_alone(o, err);
    int code = check(o, s, err);
    if (code != 0)
        return code;
    bool chosen = o->points && strcmp(o->points, "auto") == 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    o->sized = o->window || o->period || o->count || (o->points && !chosen);
    code = read_precision(o, err);
    if (code != 0)
        return code;
    o->window = o->window ? o->window : o->systematic || chosen ? 20000 : 10000000;
    o->lead = o->lead ? o->lead : o->systematic || chosen ? 50000000 : 20000000;
    o->jobs = o->jobs ? o->jobs : processors > 0 ? (uint64_t)processors : 1;
    s->warmup_insns = s->warmup_insns ? s->warmup_insns : o->systematic || chosen ? 5000 : 20000;
    if (o->period && o->window > o->period / 2)
        return error_set(err, -EINVAL, "--window must be at most half of --period");
    if (o->jobs > MOST_JOBS)
        return error_set(err, -EINVAL, "--jobs must be 1 to %d", MOST_JOBS);
    if (o->count > CHOOSE_LIMIT)
        return error_set(err, -EINVAL, "--point-count must be at most %d", CHOOSE_LIMIT);
    if (o->window > INT64_MAX || o->period > INT64_MAX || o->lead > INT64_MAX)
        return error_set(err, -EINVAL, "--window, --period and --lead must be less than 2^63");
    return 0;
}

int points_options_names(const struct points_options *o, const struct own_output *own, struct error *err)
{
    own_input(own, "--points", o->points);
    own_input(own, "--weights", o->weights);
    return own_file_check(own, "--keep", o->keep, err);
}
