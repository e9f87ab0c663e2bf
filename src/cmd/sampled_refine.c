#include "cmd/sampled_refine.h"

#include <errno.h>

#include "phases/refine.h"
#include "phases/settle.h"
#include "phases/strata.h"

enum {
    MORE_SHARE = 8,     /* a pass measures at most 1 / MORE_SHARE of the run */
    WINDOWS_LEAST = 10, /* fewest windows of a stratum without a second pass */
    WINDOWS_EACH = 25,  /* the same, about, and most strata, if it was not wanted */
    STRATA_MOST = 20,
};

struct spares spares_new(struct process *p, const struct pass *pass)
{
    struct spares spares = {.of = {NULL}};
    struct error ignored;
    for (unsigned i = 0; i < SPARES; i++)
        spares.of[i] = spare_new(p, pass, &ignored);
    return spares;
}

/* The last one first: each has inherited the pipes of those before it, so that these do not close until it ends. */
void spares_free(struct spares *s)
{
    for (unsigned i = SPARES; i-- > 0;)
        spare_free(s->of[i]);
}

static bool is_too_wide(const struct sampled_run *s)
{
    struct sampled_rate e = combine(s, combine_cycles, NULL);
    return e.half > refine_sampling_precision(s->precision) * e.value;
}

/* Makes the estimates. A model needs windows of all strata. */
static int prepare(struct sampled_run *sampled, bool model, struct error *err)
{
    int code = combine_prepare(sampled, err);
    unit_model_free(&sampled->model);
    if (code == 0 && model && unit_model_fit(sampled) != 0)
        code = error_set(err, -ENOMEM, "out of memory for estimates");
    return code;
}

/* The second pass: measures windows of all strata, which become the phases of the run. If windows cannot be measured,
 * that is not an error: sampled->too_wide says why. */
static int measure_strata(struct status_line *line, const struct refine_limits *limits, struct spare *spare,
                          struct sampled_run *sampled, struct error *err)
{
    struct refinement more = {.wanted = 0};
    struct error why;
    int code = strata_divide(sampled, refine_strata_count(sampled, limits), err);
    if (code == 0)
        code = prepare(sampled, true, err);
    if (code == 0)
        code = refine_strata(sampled, sampled->precision, limits, &more, err);
    if (code == 0) {
        status_line_draw(line, "measuring windows of all kinds");
        int measured = spare_measure(spare, &more.points, &sampled->result, &why);
        if (measured != 0) {
            error_set(&sampled->too_wide, measured, "%.400s", why.text);
            strata_join(sampled, WINDOWS_LEAST);
        }
        code = prepare(sampled, measured == 0, err);
    }
    refinement_free(&more);
    return code;
}

/* The third pass: measures more windows, since the interval of the CPI is wider than asked for. */
static int measure_more(struct status_line *line, const struct refine_limits *limits, struct spare *spare,
                        struct sampled_run *sampled, struct error *err)
{
    struct refinement more;
    struct error why;
    int code = refine_precision(sampled, sampled->precision, limits, &more, err);
    if (code == 0 && more.points.count && spare) {
        status_line_draw(line, "measuring more windows");
        int measured = spare_measure(spare, &more.points, &sampled->result, &why);
        if (measured != 0)
            error_set(&sampled->too_wide, measured, "%.400s", why.text);
        code = prepare(sampled, true, err);
    }
    if (code == 0 && is_too_wide(sampled) && sampled->too_wide.text[0] == '\0') {
        if (refine_sampling_precision(sampled->precision) == 0)
            error_set(&sampled->too_wide, -ERANGE, "warming leaves ±%.2g %% open", 100 * WARM_CYCLES_ERROR);
        else if (more.wanted > more.points.count)
            error_set(&sampled->too_wide, -E2BIG, "%llu more windows are needed, a large part of the run",
                      (unsigned long long)(more.wanted - more.points.count));
        else
            error_set(&sampled->too_wide, -ERANGE,
                      "the windows vary more than the first ones showed, or warming leaves "
                      "too much open");
    }
    refinement_free(&more);
    return code;
}

/* The last pass: measures settled windows, where wrong paths matter. If these cannot be measured, nothing changes. */
static int measure_settled(const struct refine_context *c, struct spare *spare, struct sampled_run *sampled,
                           struct error *err)
{
    struct settle_plan plan;
    struct error why;
    struct pass_result r = {.numbers = sampled->result.numbers, .insns = sampled->result.insns};
    int code = settle_plan(sampled, c->second_lines, &plan, err);
    if (code == 0 && plan.points.count && spare) {
        status_line_draw(c->line, "measuring what wrong paths change");
        if (spare_measure(spare, &plan.points, &r, &why) == 0)
            settle_take(sampled, &plan, &r);
        pass_result_free(&r);
    }
    settle_plan_free(&plan);
    if (code == 0 && is_too_wide(sampled) && sampled->too_wide.text[0] == '\0')
        error_set(&sampled->too_wide, -ERANGE, "what wrong paths do to the second cache is not known well enough");
    return code;
}

/* The only pass is over: divides a systematic sample into a few strata, so that each has many windows. */
static int stratify(struct sampled_run *sampled, struct error *err)
{
    size_t most = sampled->used / WINDOWS_EACH;
    if (sampled->points.period == 0 || most < 2)
        return 0;
    int code = strata_divide(sampled, most < STRATA_MOST ? (unsigned)most : STRATA_MOST, err);
    if (code == 0)
        strata_join(sampled, WINDOWS_LEAST);
    return code == 0 ? prepare(sampled, false, err) : code;
}

int refine_run(const struct refine_context *c, struct sampled_run *sampled, struct error *err)
{
    const struct refine_limits limits = {sampled->result.insns / MORE_SHARE, c->warmup_insns};
    int code = 0;
    sampled->precision = c->precision;
    if (c->precision > 0 && c->spares.of[0] && sampled->units.count)
        code = measure_strata(c->line, &limits, c->spares.of[0], sampled, err);
    else
        code = stratify(sampled, err);
    if (code == 0 && sampled->spread && is_too_wide(sampled))
        code = measure_more(c->line, &limits, c->spares.of[1], sampled, err);
    if (code == 0 && sampled->spread)
        code = measure_settled(c, c->spares.of[2], sampled, err);
    if (code == 0 && c->precision > 0 && sampled->spread == NULL && sampled->too_wide.text[0] == '\0')
        error_set(&sampled->too_wide, -ENOTSUP, "the program cannot be run a second time");
    if (code == 0 && !is_too_wide(sampled))
        sampled->too_wide.text[0] = '\0';
    return code;
}
