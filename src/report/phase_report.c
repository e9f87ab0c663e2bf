#include "report/phase_report.h"

#include "report/phase_picture.h"
#include "report/stall_picture.h"

/* Where an interval begins, in instructions; the end of the last one for the number behind it. */
static uint64_t start_of(const struct phase_report *r, size_t interval)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < interval; k++)
        sum += r->set->vector[k].insns;
    return sum;
}

static uint64_t length_of(const struct phase_report *r, const struct phase_point *p)
{
    return start_of(r, p->start + p->length) - start_of(r, p->start);
}

/* ---- page */

static void print_periods(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    char text[SHORT_NUMBER];
    fputs("period            ", to);
    if (p->period_count == 0)
        fputs("none", to);
    for (unsigned k = 0; k < p->period_count; k++)
        fprintf(to, "%s%s", k ? ", within " : "", stall_short(p->periods[k] * r->set->interval, text));
    if (p->correlated_period)
        fprintf(to, "   (autocorrelation: %s)\n", stall_short(p->correlated_period * r->set->interval, text));
    else
        fputs("   (autocorrelation: none)\n", to);
    if (p->duration_count < 2)
        return;
    fputs("  by duration     ", to);
    for (unsigned k = 0; k < p->duration_count; k++) {
        fprintf(to, "%s%s: ", k ? "   " : "", stall_short(p->duration[k].length * r->set->interval, text));
        fputs(p->duration[k].period ? stall_short(p->duration[k].period * r->set->interval, text) : "-", to);
    }
    fputc('\n', to);
}

static void print_point(const struct phase_report *r, const char *label, const struct phase_point *p, FILE *to)
{
    char start[SHORT_NUMBER], length[SHORT_NUMBER];
    if (p->length)
        fprintf(to, "  %-26s %10s %10s %11.4f\n", label, stall_short(start_of(r, p->start), start),
                stall_short(length_of(r, p), length), p->difference);
}

static void print_points(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    fputs("\nwhere to simulate                 start     length  difference\n", to);
    print_point(r, p->period ? "best single period" : "best interval", &p->best, to);
    print_point(r, "best for the budget", &p->budgeted, to);
    print_point(r, p->period ? "initialization + a period" : "initialization + 1", &p->naive, to);
    fprintf(to, "\n%u point%s by clustering            start     length     weight\n", r->clusters->count,
            r->clusters->count == 1 ? " " : "s");
    for (unsigned k = 0; k < r->clusters->count; k++) {
        const struct cluster_point *c = &r->clusters->point[k];
        char start[SHORT_NUMBER], length[SHORT_NUMBER];
        fprintf(to, "  %-26u %10s %10s %9.2f %%\n", k, stall_short(start_of(r, c->interval), start),
                stall_short(r->set->vector[c->interval].insns, length), 100 * c->weight);
    }
}

void phase_report_page(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    char text[SHORT_NUMBER], interval[SHORT_NUMBER];
    fprintf(to, "phases of %s: %zu interval%s of %s instructions, %u basic blocks\n\n", r->source, p->count,
            p->count == 1 ? "" : "s", stall_short(r->set->interval, interval), r->set->blocks);
    fprintf(to, "initialization    %s\n", p->init_end ? stall_short(start_of(r, p->init_end), text) : "none");
    print_periods(r, to);
    print_points(r, to);
    phase_picture("difference to the whole run", p->difference, p->count, r->set->interval, to);
    phase_picture("initialization difference: the first quarter against the run", p->initialization,
                  p->initialization_count, r->set->interval, to);
    phase_picture("period difference: a quarter behind initialization against what follows", p->match, p->match_count,
                  r->set->interval, to);
}

/* ---- files */

static json_t *point_json(const struct phase_report *r, const struct phase_point *p)
{
    if (p->length == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:f}", "start", (json_int_t)start_of(r, p->start), "length",
                     (json_int_t)length_of(r, p), "difference", p->difference);
}

static json_t *numbers(const double *x, size_t count)
{
    json_t *array = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append_new(array, json_real(x[k]));
    return array;
}

static json_t *periods_json(const struct phase_report *r)
{
    json_t *array = json_array();
    for (unsigned k = 0; k < r->phases->period_count; k++)
        json_array_append_new(array, json_integer((json_int_t)(r->phases->periods[k] * r->set->interval)));
    return array;
}

static json_t *durations_json(const struct phase_report *r)
{
    json_t *array = json_array();
    for (unsigned k = 0; k < r->phases->duration_count; k++) {
        const struct phase_duration *d = &r->phases->duration[k];
        json_array_append_new(array, json_pack("{s:I, s:I}", "duration", (json_int_t)(d->length * r->set->interval),
                                               "period", (json_int_t)(d->period * r->set->interval)));
    }
    return array;
}

static json_t *clusters_json(const struct phase_report *r)
{
    json_t *array = json_array();
    for (unsigned k = 0; k < r->clusters->count; k++) {
        const struct cluster_point *c = &r->clusters->point[k];
        json_array_append_new(array,
                              json_pack("{s:I, s:I, s:f}", "start", (json_int_t)start_of(r, c->interval), "length",
                                        (json_int_t)r->set->vector[c->interval].insns, "weight", c->weight));
    }
    return array;
}

json_t *phase_report_json(const struct phase_report *r)
{
    const struct phases *p = r->phases;
    return json_pack(
        "{s:{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}, s:o, s:o, s:o, s:o}", "phases", "interval",
        (json_int_t)r->set->interval, "count", (json_int_t)p->count, "blocks", (json_int_t)r->set->blocks, "init_end",
        (json_int_t)start_of(r, p->init_end), "period", (json_int_t)(p->period * r->set->interval), "correlated_period",
        (json_int_t)(p->correlated_period * r->set->interval), "periods", periods_json(r), "durations",
        durations_json(r), "difference", numbers(p->difference, p->count), "init_difference",
        numbers(p->initialization, p->initialization_count), "period_difference", numbers(p->match, p->match_count),
        "points", clusters_json(r), "best_period", point_json(r, &p->best), "budgeted", point_json(r, &p->budgeted),
        "naive", point_json(r, &p->naive));
}

void phase_report_csv(const struct phase_report *r, FILE *to)
{
    uint64_t start = 0;
    fputs("start,instructions,difference,cluster\n", to);
    for (size_t k = 0; k < r->set->count; k++) {
        fprintf(to, "%llu,%llu,%.9g,%u\n", (unsigned long long)start, (unsigned long long)r->set->vector[k].insns,
                r->phases->difference[k], r->clusters->of[k]);
        start += r->set->vector[k].insns;
    }
}
