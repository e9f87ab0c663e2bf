/* Settled windows: what wrong paths do to the second cache.
 *
 * Functional warming has no wrong paths. On the core they fetch lines into the second cache, which push others out (or
 * are of use later), until the cache has been filled anew: after millions of instructions. A window is too short to see
 * that, even with a longer warm-up. Where wrong paths fetch many lines, a few long windows are measured as well, the
 * settled ones. Before each of them, instructions are simulated in detail until they have filled the second cache anew.
 * Usual windows are measured in the same parts of the run. The misses of both are divided by those that warming counted
 * there. The first quotient divided by the second is a factor for the misses of the whole run, and the coefficients of
 * the model (unit_model.h) tell what that does to any other value. */
#ifndef CYCLESCOPE_PHASES_SETTLE_H
#define CYCLESCOPE_PHASES_SETTLE_H

#include "phases/combine.h"

/* Windows that should be measured. */
struct settle_plan {
    struct points points; /* each settled window follows the usual ones in it. None: wrong paths change little, or the
                             windows would be too large a part of the run */
    double *chance;       /* by window: the chance with which it was drawn; of a usual window, from its settled one */
};

/* Needs a model. `lines`: of the second cache. 0 or -ENOMEM with a message; settle_plan_free is due in any case. */
int settle_plan(const struct sampled_run *s, uint64_t lines, struct settle_plan *to, struct error *err) MUST_CHECK;
void settle_plan_free(struct settle_plan *p);
/* Sets s->settled from the measured windows of the plan. */
void settle_take(struct sampled_run *s, const struct settle_plan *p, const struct pass_result *r);

/* Half width of the 95 % interval of s->settled.change. */
double settle_half(const struct sampled_run *s, enum settled_kind kind);
/* What wrong paths add to a value per instruction of the run. `*variance`: of that. */
double settle_effect(const struct sampled_run *s, combine_value *of, void *context, double *variance);

#endif
