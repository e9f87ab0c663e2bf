#include "cmd/points_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "points/choose.h"

enum { MOST_JOBS = 1024 };

bool points_options_given(const struct points_options *o)
{
    return o->points || o->systematic;
}

static int check_alone(const struct points_options *o, struct error *err)
{
    if (o->weights || o->window || o->period || o->count || o->lead || o->jobs || o->keep)
        return error_set(err, -EINVAL,
                         "--weights, --window, --period, --count, --lead, --jobs and --keep need --points or "
                         "--systematic: without them everything is simulated");
    return 0;
}

static int check(const struct points_options *o, const struct simulation *s, struct error *err)
{
    bool chosen = o->points && strcmp(o->points, "auto") == 0;
    if (o->points && o->systematic)
        return error_set(err, -EINVAL, "--points and --systematic are different ways to choose: give one of them");
    if (o->weights && (o->points == NULL || chosen))
        return error_set(err, -EINVAL, "--weights needs --points FILE, whose clusters they are of");
    if (o->period && !o->systematic)
        return error_set(err, -EINVAL, "--period needs --systematic: points are where they are");
    if (o->count && !chosen)
        return error_set(err, -EINVAL, "--count needs --points auto, which chooses as many");
    if (s->skip_insns || s->max_insns)
        return error_set(err, -EINVAL, "--skip and --max-insns exclude --points and --systematic, which cover a run");
    if (s->firmware)
        return error_set(err, -EINVAL, "--firmware excludes --points and --systematic: it would begin in every window");
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
    o->window = o->window ? o->window : o->systematic ? 20000 : chosen ? 1000000 : 10000000;
    o->period = o->period ? o->period : 1000000;
    o->lead = o->lead ? o->lead : 20000000;
    o->jobs = o->jobs ? o->jobs : processors > 0 ? (uint64_t)processors : 1;
    s->warmup_insns = s->warmup_insns ? s->warmup_insns : o->systematic ? 5000 : 50000;
    if (o->systematic && (o->window > o->period / 2 || s->warmup_insns > o->period / 2))
        return error_set(err, -EINVAL, "--window and --warmup are to be at most half of --period");
    if (o->jobs > MOST_JOBS)
        return error_set(err, -EINVAL, "--jobs is to be 1 to %d", MOST_JOBS);
    if (o->count > CHOOSE_LIMIT)
        return error_set(err, -EINVAL, "--count is to be at most %d", CHOOSE_LIMIT);
    if (o->window > INT64_MAX || o->period > INT64_MAX || o->lead > INT64_MAX)
        return error_set(err, -EINVAL, "--window, --period and --lead are to be less than 2^63");
    return 0;
}
