#include "cmd/sampling_options.h"

#include <errno.h>
#include <string.h>

void sampling_options_init(struct sampling_options *s)
{
    *s = (struct sampling_options){0};
}

/* Which of two or three words was given; the first if none was. -EINVAL if it is another. */
static int which(const char *option, const char *given, const char *const words[], unsigned count, struct error *err)
{
    for (unsigned i = 0; given && i < count; i++)
        if (strcmp(given, words[i]) == 0)
            return (int)i;
    if (given == NULL)
        return 0;
    return error_set(err, -EINVAL, "%s %s: it is %s%s%s or %s", option, given, words[0], count > 2 ? ", " : "",
                     count > 2 ? words[1] : "", words[count - 1]);
}

int sampling_options_finish(struct sampling_options *s, struct error *err)
{
    static const char *const units[] = {"cycles", "insns"}, *const orders[] = {"random", "fixed"};
    static const char *const modes[] = {"user", "machine", "both"};
    static const enum privilege privileges[] = {PRIVILEGE_USER, PRIVILEGE_MACHINE, PRIVILEGE_ANY};
    int by = which("--by", s->by, units, 2, err), order = by < 0 ? by : which("--order", s->order, orders, 2, err);
    int mode = order < 0 ? order : which("--mode", s->mode, modes, 3, err);
    if (mode < 0)
        return -EINVAL;
    s->estimating = s->estimator ? estimator_find(s->estimator) : &estimators[0];
    if (s->estimating == NULL)
        return error_set(err, -EINVAL,
                         "--estimator %s: there is none of this name; `cyclescope list estimators` has all",
                         s->estimator);
    s->plan = (struct plan_options){.clock = by == 0 ? CLOCK_CYCLES : CLOCK_INSNS,
                                    .round = s->round,
                                    .slice = s->slice,
                                    .fixed_order = order == 1,
                                    .seed = s->seed,
                                    .mode = privileges[mode]};
    return 0;
}

bool sampling_options_given(const struct sampling_options *s)
{
    return s->by || s->round || s->slice || s->seed || s->order || s->mode || s->estimator;
}
