#include "cmd/sampling_options.h"

#include <errno.h>
#include <string.h>

void sampling_options_init(struct sampling_options *s)
{
    *s = (struct sampling_options){0};
}

/* Returns the index of `given` in `words`, which are two or three; 0 if `given` is NULL; -EINVAL if it is not one. */
static int which(const char *option, const char *given, const char *const words[], unsigned count, struct error *err)
{
    for (unsigned i = 0; given && i < count; i++)
        if (strcmp(given, words[i]) == 0)
            return (int)i;
    if (given == NULL)
        return 0;
    return error_set(err, -EINVAL, "%s %s: it must be %s%s%s or %s", option, given, words[0], count > 2 ? ", " : "",
                     count > 2 ? words[1] : "", words[count - 1]);
}

int sampling_options_finish(struct sampling_options *s, struct error *err)
{
    static const char *const units[] = {"cycles", "insns"}, *const orders[] = {"random", "fixed"};
    static const char *const modes[] = {"user", "machine", "both"};
    static const enum privilege privileges[] = {PRIVILEGE_USER, PRIVILEGE_MACHINE, PRIVILEGE_ANY};
    int unit = which("--unit", s->unit, units, 2, err),
        order = unit < 0 ? unit : which("--order", s->order, orders, 2, err);
    int mode = order < 0 ? order : which("--mode", s->mode, modes, 3, err);
    if (mode < 0)
        return -EINVAL;
    s->chosen_estimator = s->estimator ? estimator_find(s->estimator) : &estimators[0];
    if (s->chosen_estimator == NULL)
        return error_set(err, -EINVAL,
                         "--estimator %s: there is no such estimator; `cyclescope list estimators` lists them",
                         s->estimator);
    s->plan = (struct plan_options){.clock = unit == 0 ? CLOCK_CYCLES : CLOCK_INSNS,
                                    .round = s->round,
                                    .slice = s->slice,
                                    .fixed_order = order == 1,
                                    .seed = s->seed,
                                    .mode = privileges[mode]};
    return 0;
}

bool sampling_options_given(const struct sampling_options *s)
{
    return s->unit || s->round || s->slice || s->seed || s->order || s->mode || s->estimator;
}
