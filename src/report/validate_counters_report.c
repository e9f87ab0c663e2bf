#include <inttypes.h>
#include <math.h>

#include "report/csv.h"
#include "report/text_table.h"
#include "report/validate_sampling_report.h"

/* ---- text */

static void put_number(double value, struct text_table *t)
{
    if (isnan(value))
        text_cell(t, "N/A");
    else
        text_cell(t, "%.3f", value);
}

static void put_percent(double value, struct text_table *t)
{
    if (isnan(value))
        text_cell(t, "none");
    else
        text_cell(t, "%.2f", 100 * value);
}

/* Columns of both estimators, below one heading. */
static void put_heads(struct text_table *t, const char *heading)
{
    text_column(t, TEXT_NUMBER, "linear");
    text_over(t, heading);
    text_column(t, TEXT_BESIDE, check_estimator(CHECK_DEFAULT)->name);
}

static void print_events(const struct counters_report *r, FILE *to, unsigned columns)
{
    struct text_table *t = text_table_new();
    char text[GROUPED_SIZE];
    text_column(t, TEXT_LEFT, "event");
    text_column(t, TEXT_NUMBER, "true count");
    text_column(t, TEXT_NUMBER, "slice, %");
    text_over(t, "busiest");
    put_heads(t, "distance");
    put_heads(t, "error of the total, %");
    text_column(t, TEXT_BESIDE, "±");
    put_heads(t, "in the interval");
    text_column(t, TEXT_WRAP, "");
    for (size_t i = 0; i < r->specs->count; i++) {
        const struct counter_checked *e = &r->event[i];
        text_cell(t, "%s", r->specs->of[i].text);
        text_cell(t, "%s", grouped(e->truth, text));
        put_percent(e->busiest, t);
        put_number(e->by[CHECK_LINEAR].distance, t);
        put_number(e->by[CHECK_DEFAULT].distance, t);
        put_percent(e->by[CHECK_LINEAR].error, t);
        put_percent(e->by[CHECK_DEFAULT].error, t);
        put_percent(e->truth ? estimate_half(&e->by[CHECK_DEFAULT].total) / (double)e->truth : NAN, t);
        text_cell(t, "%s", e->by[CHECK_LINEAR].holds ? "yes" : "no");
        text_cell(t, "%s", e->by[CHECK_DEFAULT].holds ? "yes" : "no");
        text_cell(t, "%s", e->by[CHECK_DEFAULT].total.bursty ? "bursty" : "");
    }
    fputc('\n', to);
    text_table_print(t, to, 1, columns);
}

static void print_replayed(const struct counters_report *r, FILE *to, unsigned columns)
{
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "event");
    put_heads(t, "distance");
    put_heads(t, "error of the total, %");
    put_heads(t, "in the interval, %");
    for (size_t i = 0; i < r->specs->count; i++) {
        const struct replayed *e = r->replayed[i];
        text_cell(t, "%s", r->specs->of[i].text);
        put_number(e[CHECK_LINEAR].distance, t);
        put_number(e[CHECK_DEFAULT].distance, t);
        put_percent(e[CHECK_LINEAR].error, t);
        put_percent(e[CHECK_DEFAULT].error, t);
        text_cell(t, "%.1f", 100 * (double)e[CHECK_LINEAR].held / (double)r->seeds);
        text_cell(t, "%.1f", 100 * (double)e[CHECK_DEFAULT].held / (double)r->seeds);
    }
    fprintf(to, "\n Replayed in %" PRIu64 " other orders, means:\n", r->seeds);
    text_table_print(t, to, 1, columns);
}

static void print_sweep(const struct counters_report *r, FILE *to, unsigned columns)
{
    struct text_table *t = text_table_new();
    char text[GROUPED_SIZE];
    text_column(t, TEXT_LEFT, "slice");
    for (size_t p = 0; p < r->points; p++)
        text_column(t, TEXT_NUMBER, grouped(r->sweep[p].slice, text));
    text_cell(t, "ratio");
    for (size_t p = 0; p < r->points; p++)
        text_cell(t, "%" PRIu32, r->sweep[p].ratio);
    text_cell(t, "rounds");
    for (size_t p = 0; p < r->points; p++)
        text_cell(t, "%zu", r->sweep[p].rounds);
    for (size_t i = 0; i < r->specs->count; i++) {
        text_cell(t, "%s", r->specs->of[i].text);
        for (size_t p = 0; p < r->points; p++)
            put_number(r->sweep[p].rounds > 1 ? r->sweep[p].distance[i][CHECK_LINEAR] : NAN, t);
    }
    fputc('\n', to);
    text_paragraph(to,
                   "Distances of the linear estimator at other slices and ratios: a run with short slices replayed, "
                   "mean of %u orders each.",
                   r->draws);
    text_table_print(t, to, 1, columns);
}

void counters_report_print(const struct counters_report *r, FILE *to, unsigned columns)
{
    const struct plan *p = r->plan;
    char slice[GROUPED_SIZE], round[GROUPED_SIZE];
    run_report_print_begin(&r->run, to);
    print_events(r, to, columns);
    if (r->replayed)
        print_replayed(r, to, columns);
    if (r->points)
        print_sweep(r, to, columns);
    fputc('\n', to);
    text_paragraph(
        to,
        "%zu events in %zu group%s; slices of %s cycles, rounds of %s, in which each group has one slice; %zu "
        "whole rounds.",
        p->event_count, p->group_count, p->group_count == 1 ? "" : "s", grouped(p->slice, slice),
        grouped(p->slice * p->slots, round), r->rounds);
    text_paragraph(to,
                   "busiest slice: mean share of a round's events that its busiest slice has. %s of %s, in percent of "
                   "the true count. N/A: rarer than once in 10,000 cycles.",
                   PLUS_MINUS_MEANING, check_estimator(CHECK_DEFAULT)->name);
    run_report_print_end(&r->run, to);
}

/* ---- files */

void counters_report_csv(const struct counters_report *r, FILE *to)
{
    fputs("event,true_value,estimator,value,low,high,distance,error_percent,holds\n", to);
    for (size_t i = 0; i < r->specs->count; i++)
        for (unsigned b = 0; b < CHECK_ESTIMATORS; b++) {
            const struct counter_checked *e = &r->event[i];
            csv_text(r->specs->of[i].text, to);
            fprintf(to, ",%" PRIu64 ",%s,%.0f,%.0f,", e->truth, check_estimator(b)->name, e->by[b].total.value,
                    e->by[b].total.low);
            if (isfinite(e->by[b].total.high))
                fprintf(to, "%.0f", e->by[b].total.high);
            fputc(',', to);
            if (!isnan(e->by[b].distance))
                fprintf(to, "%.5f", e->by[b].distance);
            fputc(',', to);
            if (!isnan(e->by[b].error))
                fprintf(to, "%.4f", 100 * e->by[b].error);
            fprintf(to, ",%d\n", e->by[b].holds);
        }
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* One number of each column, as an array. */
enum column_member { COLUMN_TRUTH, COLUMN_HALF, COLUMN_VALUE };

static json_t *column_json(const struct counters_report *r, size_t event, enum column_member what, unsigned estimator)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->columns; i++) {
        const struct checked_column *c = &r->column[event][i];
        json_array_append_new(list, number(what == COLUMN_TRUTH  ? c->truth
                                           : what == COLUMN_HALF ? c->half
                                                                 : c->value[estimator]));
    }
    return list;
}

static json_t *columns_json(const struct counters_report *r, size_t event)
{
    json_t *all = json_pack("{s:o, s:o}", "true", column_json(r, event, COLUMN_TRUTH, 0), "half",
                            column_json(r, event, COLUMN_HALF, 0));
    for (unsigned b = 0; all && b < CHECK_ESTIMATORS; b++)
        json_object_set_new(all, check_estimator(b)->name, column_json(r, event, COLUMN_VALUE, b));
    return all;
}

static json_t *event_json(const struct counters_report *r, size_t i)
{
    const struct counter_checked *e = &r->event[i];
    json_t *one = json_pack("{s:s, s:s, s:I, s:b, s:b, s:o}", "event", r->specs->of[i].text, "name",
                            r->specs->of[i].event->name, "true_value", (json_int_t)e->truth, "rare", e->rare, "bursty",
                            e->by[CHECK_DEFAULT].total.bursty, "busiest_percent", number(100 * e->busiest));
    for (unsigned b = 0; one && b < CHECK_ESTIMATORS; b++) {
        json_t *by =
            json_pack("{s:f, s:f, s:o, s:o, s:o, s:b, s:f}", "value", e->by[b].total.value, "low", e->by[b].total.low,
                      "high", number(e->by[b].total.high), "distance", number(e->by[b].distance), "error_percent",
                      number(100 * e->by[b].error), "holds", e->by[b].holds, "variation", e->by[b].total.variation);
        if (by && r->replayed)
            json_object_set_new(by, "replayed",
                                json_pack("{s:o, s:o, s:I}", "distance", number(r->replayed[i][b].distance),
                                          "error_percent", number(100 * r->replayed[i][b].error), "held",
                                          (json_int_t)r->replayed[i][b].held));
        json_object_set_new(one, check_estimator(b)->name, by);
    }
    if (one)
        json_object_set_new(one, "rounds", columns_json(r, i));
    return one;
}

static json_t *sweep_json(const struct counters_report *r)
{
    json_t *points = json_array();
    for (size_t p = 0; p < r->points; p++) {
        const struct sweep_point *at = &r->sweep[p];
        json_t *distances = json_array();
        for (size_t i = 0; i < r->specs->count; i++) {
            json_t *one = json_pack("{s:s}", "event", r->specs->of[i].text);
            for (unsigned b = 0; one && b < CHECK_ESTIMATORS; b++)
                json_object_set_new(one, check_estimator(b)->name, number(at->rounds > 1 ? at->distance[i][b] : NAN));
            json_array_append_new(distances, one);
        }
        json_array_append_new(points, json_pack("{s:I, s:I, s:I, s:o}", "slice", (json_int_t)at->slice, "ratio",
                                                (json_int_t)at->ratio, "rounds", (json_int_t)at->rounds, "distance",
                                                distances));
    }
    return points;
}

json_t *counters_report_json(const struct counters_report *r)
{
    const struct plan *p = r->plan;
    json_t *root = run_report_json(&r->run, "validate counters"), *counters = json_array();
    for (size_t i = 0; i < r->specs->count; i++)
        json_array_append_new(counters, event_json(r, i));
    json_t *how =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "slice", (json_int_t)p->slice, "ratio", (json_int_t)p->slots,
                  "groups", (json_int_t)p->group_count, "rounds", (json_int_t)r->rounds, "order_seed",
                  (json_int_t)p->seed, "user_cycles", (json_int_t)r->cycles, "replayed_orders", (json_int_t)r->seeds);
    json_object_set_new(root, "multiplexing", how);
    json_object_set_new(root, "counters", counters);
    if (r->points)
        json_object_set_new(root, "sweep", sweep_json(r));
    return root;
}
