#include "report/sampled_report.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "phases/settle.h"
#include "report/text_table.h"

enum { NOTHING = -1, CYCLES = offsetof(struct simulation_counts, core.cycles) / sizeof(uint64_t) };

/* Index of a number, and index of the number to subtract from it or NOTHING. */
struct choice {
    long number, minus;
};

/* The number, or difference, of one window (combine_value). Numbers are signed: a stack's base can be negative. */
static double chosen(void *context, const uint64_t *number)
{
    const struct choice *c = context;
    double minus = c->minus == NOTHING ? 0 : (double)(int64_t)number[c->minus];
    return (double)(int64_t)number[c->number] - minus;
}

static size_t failures(const struct sampled_run *s, const struct measured **first);

/* Half interval for the whole run. Infinite if the run was interrupted before all windows, or those of the part that
 * ran, were measured: the measured windows are the early ones, and say nothing about the others. */
static double half(const struct run_report *r, struct choice c)
{
    const struct sampled_run *s = r->sampled;
    const struct measured *first;
    if (r->interrupted && !s->result.whole && (s->points.period == 0 || failures(s, &first) > 0))
        return INFINITY;
    return combine(s, chosen, &c).half * (double)s->result.insns;
}

double sampled_half(const struct run_report *r, size_t number)
{
    return half(r, (struct choice){(long)number, NOTHING});
}

double sampled_difference_half(const struct run_report *r, size_t number, size_t minus)
{
    return half(r, (struct choice){(long)number, (long)minus});
}

double sampled_add_warm_error(const struct run_report *r, double half, double value, enum warm_trust trust)
{
    switch (trust) {
    case TRUST_NEAR: return hypot(half, WARM_COUNT_ERROR * value);
    case TRUST_TIME: return hypot(half, WARM_CYCLES_ERROR * (double)r->result.counts.core.cycles);
    case TRUST_OWN: return half;
    case TRUST_NONE: break;
    }
    return INFINITY;
}

double sampled_cycles_half(const struct run_report *r, size_t number, uint64_t parts)
{
    return sampled_add_warm_error(r, sampled_half(r, number) / (double)parts, 0, TRUST_TIME);
}

double sampled_cpi_half(const struct run_report *r)
{
    return sampled_cycles_half(r, CYCLES, 1) / (double)r->sampled->result.insns;
}

/* ---- page */

/* The number of windows that lie within the run and could not be simulated; `*first` is the first of them or NULL. */
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

/* The windows that were measured, without the head. */
static size_t measured_windows(const struct sampled_run *s)
{
    return s->used - (s->points.head > 0 && s->result.measured[0].done);
}

struct sample_summary sampled_summary(const struct run_report *r)
{
    const struct sampled_run *s = r->sampled;
    const struct measured *first;
    if (s == NULL || r->whole)
        return (struct sample_summary){.whole = r->whole};
    return (struct sample_summary){.systematic = s->points.period != 0,
                                   .windows = measured_windows(s),
                                   .failed = failures(s, &first),
                                   .strayed = s->strayed,
                                   .window_insns = s->points.insns,
                                   .head = s->points.head,
                                   .measured = s->measured,
                                   .cpi_half = sampled_cpi_half(r)};
}

static void print_troubles(const struct sampled_run *s, FILE *to)
{
    const struct measured *first;
    size_t count = failures(s, &first);
    if (count)
        text_paragraph(to, "%zu window%s could not be simulated; the first one is at instruction %" PRIu64 ": %s.",
                       count, count == 1 ? "" : "s", first->window.start, first->err.text);
    if (s->missing > 0)
        text_paragraph(to,
                       "Phases that make up %.1f %% of the run were not simulated; the other phases represent them.",
                       100 * s->missing);
    if (s->strayed)
        text_paragraph(
            to,
            "%zu of the windows strayed from the run itself: the program renames or makes files, or starts processes.",
            s->strayed);
}

void sampled_print_interruption(const struct run_report *r, FILE *to)
{
    const struct sampled_run *s = r->sampled;
    const struct measured *first;
    size_t failed = failures(s, &first);
    fprintf(to, "%zu of %zu %s were measured.\n", s->used, s->used + failed,
            s->points.period ? "windows of the part before it" : "points");
    if (s->result.whole)
        fputs(" The numbers are an estimate of the whole run, which was rehearsed.\n", to);
    else if (s->points.period == 0 || failed)
        fputs(" The numbers are no estimate of the whole run, and have no intervals.\n", to);
    else
        fputs(" The numbers are an estimate of the part before it.\n", to);
}

void sampled_print(const struct run_report *r, FILE *to)
{
    const struct sampled_run *s = r->sampled;
    char insns[GROUPED_SIZE], length[GROUPED_SIZE], head[GROUPED_SIZE];
    double share = 100 * (double)s->measured / (double)s->result.insns;
    size_t windows = measured_windows(s);
    char phases[40] = "", first[GROUPED_SIZE + 16] = "";
    if (s->points.phases)
        snprintf(phases, sizeof phases, " in %u phase%s", s->points.phases - (s->points.head > 0),
                 s->points.phases - (s->points.head > 0) == 1 ? "" : "s");
    if (s->points.head)
        snprintf(first, sizeof first, " and the first %s", grouped(s->points.head, head));
    text_paragraph(to, "Estimated from %zu %s%s of %s instructions%s%s, %.2f %% of %s. %s.", windows,
                   s->points.period ? "window" : "point", windows == 1 ? "" : "s", grouped(s->points.insns, length),
                   phases, first, share, grouped(s->result.insns, insns), PLUS_MINUS_MEANING);
    if (s->settled.windows)
        text_paragraph(
            to,
            "%zu longer windows, before which wrong paths had filled the second cache, have %+.1f %% ± %.1f misses "
            "of data there; the estimates include that.",
            s->settled.windows, 100 * s->settled.change[SETTLED_DATA], 100 * settle_half(s, SETTLED_DATA));
    if (s->too_wide.text[0])
        text_paragraph(to, "The CPI is not known to ±%.4g %%: %s.", 100 * s->precision, s->too_wide.text);
    if (r->interrupted == 0)
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
    double half = row->minus == NO_COUNT ? sampled_half(r, row->offset / size)
                                         : sampled_difference_half(r, row->offset / size, row->minus / size);
    return sampled_add_warm_error(r, half, (double)count_value(&r->result.counts, row), row->trust);
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
    if (s->points.phases) {
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

/* Misses of the second cache in settled windows against usual ones, in percent. */
static json_t *settled_json(const struct sampled_run *s)
{
    static const char *const name[SETTLED_KINDS] = {"data_misses_percent", "instruction_misses_percent"};
    json_t *object = json_pack("{s:I}", "windows", (json_int_t)s->settled.windows);
    for (unsigned kind = 0; kind < SETTLED_KINDS; kind++)
        json_object_set_new(object, name[kind],
                            interval_json(100 * s->settled.change[kind], 100 * settle_half(s, kind)));
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
    uint64_t second = s->measured_twice * (SECOND_WARMUPS * r->simulation->warmup_insns + s->points.insns);
    uint64_t warmups = (s->used + s->settled.usual) * r->simulation->warmup_insns;
    json_t *root =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:f, s:I, s:o, s:o}", "method",
                  s->points.period ? "systematic" : "points", "windows", (json_int_t)s->used, "failed",
                  (json_int_t)failures(s, &first), "phases", (json_int_t)s->points.phases, "head",
                  (json_int_t)s->points.head, "measured_twice", (json_int_t)s->measured_twice, "detailed_instructions",
                  (json_int_t)(s->measured + warmups + second + s->settled.insns), "measured_percent",
                  100 * (double)s->measured / (double)s->result.insns, "lead", (json_int_t)s->points.lead,
                  "missing_weight", s->missing, "strayed", (json_int_t)s->strayed, "cpi",
                  interval_json(run_report_cpi(r), sampled_cpi_half(r)), "points", windows);
    json_object_set_new(root, "rehearsed", json_boolean(s->result.rehearsed));
    if (s->settled.windows)
        json_object_set_new(root, "settled", settled_json(s));
    if (s->precision > 0)
        json_object_set_new(root, "precision_percent", json_real(100 * s->precision));
    if (s->too_wide.text[0])
        json_object_set_new(root, "too_wide", json_string(s->too_wide.text));
    return root;
}
