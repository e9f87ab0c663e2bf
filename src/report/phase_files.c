/* Results of `cyclescope phases` as JSON and CSV. */
#include <math.h>
#include <stdbool.h>

#include "report/csv.h"
#include "report/phase_report.h"

static json_t *point_json(const struct phase_report *r, const struct phase_point *p)
{
    if (p->length <= 0)
        return json_null();
    return json_pack("{s:I, s:I, s:f}", "start", (json_int_t)r->start[p->start], "length",
                     (json_int_t)phase_report_length(r, p), "difference", p->difference);
}

/* The same for the best stretch, with the number of its periods. */
static json_t *best_json(const struct phase_report *r)
{
    json_t *point = point_json(r, &r->phases->best);
    json_object_set_new(point, "periods", json_integer((json_int_t)r->phases->best_periods));
    return point;
}

static json_t *numbers(const double *x, size_t count)
{
    json_t *array = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append_new(array, json_real(x[k]));
    return array;
}

static json_int_t rounded(double insns)
{
    return (json_int_t)llround(insns);
}

/* Lengths of all periods, or their uncertainties. */
static json_t *periods_json(const struct phase_report *r, bool errors)
{
    const struct structure *found = &r->phases->structure;
    json_t *array = json_array();
    for (unsigned k = 0; k < found->periods; k++)
        json_array_append_new(array, json_integer(rounded(errors ? found->period[k].error : found->period[k].insns)));
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

enum { JSON_FUNCTIONS = 20 };

static json_t *functions_json(const struct phase_report *r, unsigned phase)
{
    const struct phase_code *code = &r->code[phase];
    json_t *array = json_array();
    for (size_t k = 0; k < code->shares && k < JSON_FUNCTIONS; k++) {
        struct phase_function f = phase_function_at(r->functions, code->share[k].function);
        json_t *row = json_pack("{s:s, s:s, s:f}", "name", f.name, "module", f.module, "share",
                                code->share[k].insns / code->insns);
        if (f.file) {
            json_object_set_new(row, "file", json_string(f.file));
            json_object_set_new(row, "line", json_integer(f.line));
        }
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *similarity_json(const struct similarity *m)
{
    json_t *rows = json_array();
    for (size_t a = 0; a < m->count; a++) {
        json_t *row = json_array();
        for (size_t b = 0; b < m->count; b++) /* differences have single precision: six decimals */
            json_array_append_new(row, json_real(round(m->difference[a * m->count + b] * 1e6) / 1e6));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *clusters_json(const struct phase_report *r)
{
    json_t *array = json_array();
    for (unsigned k = 0; k < r->clusters->count; k++) {
        const struct cluster_point *c = &r->clusters->point[k];
        json_t *row = json_pack("{s:I, s:I, s:f}", "start", (json_int_t)r->start[c->interval], "length",
                                (json_int_t)r->set->vector[c->interval].insns, "weight", c->weight);
        if (r->functions)
            json_object_set_new(row, "functions", functions_json(r, k));
        json_array_append_new(array, row);
    }
    return array;
}

/* Initialization and periods. */
static json_t *structure_json(const struct phase_report *r)
{
    const struct structure *found = &r->phases->structure;
    struct phase_length longest = found->periods ? found->period[found->periods - 1] : (struct phase_length){0};
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I}", "init_end", rounded(found->init.insns),
                     "init_error", rounded(found->init.error), "period", rounded(longest.insns), "period_error",
                     rounded(longest.error), "periods", periods_json(r, false), "period_errors", periods_json(r, true),
                     "correlated_period", rounded(found->correlated_period), "least_period", rounded(found->least),
                     "most_period", rounded(found->most));
}

json_t *phase_report_json(const struct phase_report *r)
{
    const struct phases *p = r->phases;
    json_t *found = structure_json(r);
    json_t *all = json_pack(
        "{s:{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}, s:o, s:o, s:o, s:o}", "phases", "weight",
        r->set->weight == BBV_ENTRIES ? "entries" : "instructions", "interval", (json_int_t)r->set->interval, "count",
        (json_int_t)p->count, "blocks", (json_int_t)r->set->blocks, "corner", (json_int_t)r->start[p->corner],
        "difference_period", (json_int_t)(p->difference_period * r->set->interval), "durations", durations_json(r),
        "difference", numbers(p->difference, p->count), "init_difference",
        numbers(p->initialization, p->initialization_count), "period_difference", numbers(p->match, p->match_count),
        "similarity", similarity_json(&r->similarity), "points", clusters_json(r), "best_period", best_json(r),
        "budgeted", point_json(r, &p->budgeted), "naive", point_json(r, &p->naive));
    if (all && found)
        json_object_update(json_object_get(all, "phases"), found);
    json_decref(found);
    return all;
}

void phase_report_csv(const struct phase_report *r, FILE *to)
{
    fputs("start,instructions,difference,cluster\n", to);
    for (size_t k = 0; k < r->set->count; k++)
        fprintf(to, "%llu,%llu,%.9g,%u\n", (unsigned long long)r->start[k], (unsigned long long)r->set->vector[k].insns,
                r->phases->difference[k], r->clusters->of[k]);
}

void phase_report_similarity_csv(const struct phase_report *r, FILE *to)
{
    const struct similarity *m = &r->similarity;
    fputs("start", to);
    for (size_t k = 0; k < m->count; k++)
        fprintf(to, ",%llu", (unsigned long long)r->start[similarity_start(r->set, m, k)]);
    for (size_t a = 0; a < m->count; a++) {
        fprintf(to, "\n%llu", (unsigned long long)r->start[similarity_start(r->set, m, a)]);
        for (size_t b = 0; b < m->count; b++)
            fprintf(to, ",%.6g", m->difference[a * m->count + b]);
    }
    fputc('\n', to);
}

void phase_report_functions_csv(const struct phase_report *r, FILE *to)
{
    fputs("phase,function,module,file,line,instructions,share\n", to);
    for (unsigned k = 0; k < r->clusters->count; k++)
        for (size_t i = 0; i < r->code[k].shares; i++) {
            const struct phase_share *s = &r->code[k].share[i];
            struct phase_function f = phase_function_at(r->functions, s->function);
            fprintf(to, "%u,", k);
            csv_text(f.name, to);
            fputc(',', to);
            csv_text(f.module, to);
            fputc(',', to);
            csv_text(f.file ? f.file : "", to);
            fprintf(to, ",%u,%.0f,%.9g\n", f.line, s->insns, s->insns / r->code[k].insns);
        }
}
