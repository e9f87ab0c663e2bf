#include "cmd/sampled_refine.h"

#include <errno.h>

#include "phases/refine.h"

enum { MORE_SHARE = 8 }; /* a pass measures at most 1 / MORE_SHARE of the run */

struct spares spares_new(struct process *p, const struct pass *pass)
{
    struct spares spares = {{NULL}};
    struct error ignored;
    for (unsigned i = 0; i < 2; i++)
        spares.of[i] = spare_new(p, pass, &ignored);
    return spares;
}

void spares_free(struct spares *s)
{
    for (unsigned i = 0; i < 2; i++)
        spare_free(s->of[i]);
}

static bool is_too_wide(const struct sampled_run *s)
{
    struct sampled_rate e = combine(s, combine_cycles, NULL);
    return e.half > s->precision * e.value;
}

/* The second pass: measures windows of all strata, which become the phases of the run. If windows cannot be measured,
 * that is not an error: sampled->too_wide says why. */
static int measure_strata(struct status_line *line, const struct refine_limits *limits, struct spare *spare,
                          struct sampled_run *sampled, struct error *err)
{
    struct strata strata;
    struct refinement more = {.wanted = 0};
    struct error why;
    int code = strata_divide(sampled, refine_strata_count(sampled, limits), &strata, err);
    if (code == 0)
        code = refine_strata(sampled, &strata, limits, &more, err);
    if (code == 0) {
        status_line_draw(line, "measuring windows of all kinds");
        int measured = spare_measure(spare, &more.points, sampled, &why);
        if (measured != 0)
            error_set(&sampled->too_wide, measured, "%.400s", why.text);
        else
            strata_adopt(sampled, &strata);
        code = combine_prepare(sampled, err);
        if (code == 0 && measured == 0 && unit_model_fit(sampled) != 0)
            code = error_set(err, -ENOMEM, "out of memory for estimates");
    }
    refinement_free(&more);
    strata_free(&strata);
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
        int measured = spare_measure(spare, &more.points, sampled, &why);
        if (measured != 0)
            error_set(&sampled->too_wide, measured, "%.400s", why.text);
        code = combine_prepare(sampled, err);
        if (code == 0 && unit_model_fit(sampled) != 0)
            code = error_set(err, -ENOMEM, "out of memory for estimates");
    }
    if (code == 0 && is_too_wide(sampled) && sampled->too_wide.text[0] == '\0') {
        if (more.wanted > more.points.count)
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

/* Strata of a systematic sample without a second pass: few, so that each has many windows. */
static int stratify(struct sampled_run *sampled, struct error *err)
{
    enum { MOST = 20, WINDOWS_EACH = 25, LEAST = 10 }; /* strata; windows of each, about; fewest windows */
    size_t most = sampled->used / WINDOWS_EACH;
    struct strata strata;
    if (sampled->points.period == 0 || most < 2)
        return 0;
    int code = strata_divide(sampled, most < MOST ? (unsigned)most : MOST, &strata, err);
    if (code == 0) {
        strata_join(sampled, &strata, LEAST);
        strata_adopt(sampled, &strata);
        code = combine_prepare(sampled, err);
    }
    strata_free(&strata);
    return code;
}

int refine_run(const struct refine_context *c, struct sampled_run *sampled, struct error *err)
{
    const struct refine_limits limits = {sampled->result.insns / MORE_SHARE, c->warmup_insns};
    int code = 0;
    sampled->precision = c->precision;
    if (c->precision > 0 && c->spares.of[0] && sampled->units.count)
        code = measure_strata(c->line, &limits, c->spares.of[0], sampled, err);
    else if (c->precision > 0)
        error_set(&sampled->too_wide, -ENOTSUP, "the program cannot be run a second time");
    if (code == 0 && sampled->spread == NULL) /* without the second pass */
        code = stratify(sampled, err);
    else if (code == 0 && is_too_wide(sampled))
        code = measure_more(c->line, &limits, c->spares.of[1], sampled, err);
    if (code == 0 && !is_too_wide(sampled))
        sampled->too_wide.text[0] = '\0';
    return code;
}
