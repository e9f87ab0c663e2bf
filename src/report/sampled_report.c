#include "report/sampled_report.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

enum { NOTHING = -1, CYCLES = offsetof(struct simulation_counts, core.cycles) / sizeof(uint64_t) };

/* One number, less another or NOTHING. */
struct choice {
    long number, less;
};

static double chosen(void *context, const uint64_t *number)
{
    const struct choice *c = context;
    double less = c->less == NOTHING ? 0 : (double)(int64_t)number[c->less];
    return (double)(int64_t)number[c->number] - less;
}

static double half(const struct run_report *r, struct choice c)
{
    const struct sampled_run *s = r->sampled;
    return combine(s, chosen, &c).half * (double)s->result.insns;
}

double sampled_half(const struct run_report *r, size_t number)
{
    return half(r, (struct choice){(long)number, NOTHING});
}

double sampled_difference_half(const struct run_report *r, size_t number, size_t less)
{
    return half(r, (struct choice){(long)number, (long)less});
}

/* Functional warming knows no wrong path and no order of execution. What caches and predictors differ by for that has
 * been measured to cost up to this share of the cycles (docs/RESULTS.md), in any component. */
static const double warm_doubt = 0.003;

/* The same of counts of misses, mispredictions and the like, in parts of each. */
static const double count_doubt = 0.01;

double sampled_doubt(const struct run_report *r, double half, double value, enum warm_trust trust)
{
    switch (trust) {
    case TRUST_NEAR: return hypot(half, count_doubt * value);
    case TRUST_TIME: return hypot(half, warm_doubt * (double)r->result.counts.core.cycles);
    case TRUST_OWN: return half;
    case TRUST_NONE: break;
    }
    return INFINITY;
}

double sampled_cycles_half(const struct run_report *r, size_t number, uint64_t parts)
{
    return sampled_doubt(r, sampled_half(r, number) / (double)parts, 0, TRUST_TIME);
}

double sampled_cpi_half(const struct run_report *r)
{
    return sampled_cycles_half(r, CYCLES, 1) / (double)r->sampled->result.insns;
}

/* ---- page */

/* Windows that are there to be simulated and were not; the first of them. */
static size_t failures(const struct sampled_run *s, const struct measured **first)
{
    size_t count = 0;
    *first = NULL;
    for (size_t i = s->result.count; i-- > 0;) {
        const struct measured *m = &s->result.measured[i];
        bool beyond = s->points.period && m->window.start + m->window.insns > s->result.insns;
        if (m->done || beyond)
            continue;
        *first = m;
        count++;
    }
    return count;
}

static void print_troubles(const struct sampled_run *s, FILE *to)
{
    const struct measured *first;
    size_t count = failures(s, &first);
    if (count)
        fprintf(to, " %zu could not be simulated, the first of them at instruction %" PRIu64 ": %s.\n", count,
                first->window.start, first->err.text);
    if (s->missing > 0)
        fprintf(to, " Phases that make up %.1f %% of the run were not simulated; the others stand for them.\n",
                100 * s->missing);
    if (s->strayed)
        fprintf(to, " %zu of the windows took another way than the run itself: it reads a clock, or changes files.\n",
                s->strayed);
}

void sampled_print(const struct run_report *r, FILE *to)
{
    const struct sampled_run *s = r->sampled;
    char insns[GROUPED_SIZE], length[GROUPED_SIZE];
    double share = 100 * (double)s->measured / (double)s->result.insns;
    fprintf(to, " Estimated from %zu %s of %s instructions", s->used, s->points.period ? "windows" : "points",
            grouped(s->points.insns, length));
    if (s->points.phases)
        fprintf(to, " in %u phases", s->points.phases);
    fprintf(to, ", %.2f %% of %s; ± reaches to the ends of 95 %% intervals.\n", share, grouped(s->result.insns, insns));
    print_troubles(s, to);
}

/* ---- JSON */

static json_t *bound(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *interval_json(double value, double half)
{
    return json_pack("[o, o]", bound(value - half), bound(value + half));
}

double sampled_count_half(const struct run_report *r, const struct count_row *row)
{
    const size_t size = sizeof(uint64_t);
    double half = row->less == NO_COUNT ? sampled_half(r, row->offset / size)
                                        : sampled_difference_half(r, row->offset / size, row->less / size);
    return sampled_doubt(r, half, (double)count_value(&r->result.counts, row), row->trust);
}

json_t *counts_intervals_json(const struct run_report *r)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count_row_count; i++)
        json_object_set_new(object, count_rows[i].name,
                            interval_json((double)count_value(&r->result.counts, &count_rows[i]),
                                          sampled_count_half(r, &count_rows[i])));
    return object;
}

static json_t *window_json(const struct sampled_run *s, const struct measured *m)
{
    json_t *object =
        json_pack("{s:I, s:I}", "start", (json_int_t)m->window.start, "length", (json_int_t)m->window.insns);
    if (s->points.period == 0) {
        size_t share = 0;
        for (size_t i = 0; i < s->result.count; i++)
            share += s->result.measured[i].done && s->result.measured[i].phase == m->phase;
        double weight = m->done ? s->points.phase[m->phase].weight / (double)share : 0;
        json_object_set_new(object, "phase", json_integer((json_int_t)s->points.phase[m->phase].id));
        json_object_set_new(object, "weight", json_real(weight));
    }
    if (m->done)
        json_object_set_new(object, "cpi", json_real((double)m->number[CYCLES] / (double)m->window.insns));
    else
        json_object_set_new(object, "why_not", json_string(m->err.text));
    if (m->strayed)
        json_object_set_new(object, "strayed", json_true());
    return object;
}

json_t *sampled_json(const struct run_report *r)
{
    const struct sampled_run *s = r->sampled;
    json_t *windows = json_array();
    const struct measured *first;
    for (size_t i = 0; i < s->result.count; i++)
        if (s->points.period == 0 || s->result.measured[i].window.start < s->result.insns)
            json_array_append_new(windows, window_json(s, &s->result.measured[i]));
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:f, s:I, s:o, s:o}", "method",
                     s->points.period ? "systematic" : "points", "windows", (json_int_t)s->used, "failed",
                     (json_int_t)failures(s, &first), "phases", (json_int_t)s->points.phases, "detailed_instructions",
                     (json_int_t)(s->measured + s->used * r->simulation->warmup_insns), "measured_percent",
                     100 * (double)s->measured / (double)s->result.insns, "lead", (json_int_t)s->points.lead,
                     "missing_weight", s->missing, "strayed", (json_int_t)s->strayed, "cpi",
                     interval_json(run_report_cpi(r), sampled_cpi_half(r)), "points", windows);
}
