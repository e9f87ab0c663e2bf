#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/validate_sampling_report.h"

static int name_width(const struct event_specs *s)
{
    int width = 12;
    for (size_t i = 0; i < s->count; i++)
        width = (int)strlen(s->of[i].text) > width ? (int)strlen(s->of[i].text) : width;
    return width;
}

/* ---- text */

static void print_number(double value, int width, FILE *to)
{
    if (isnan(value))
        fprintf(to, " %*s", width, "N/A");
    else
        fprintf(to, " %*.3f", width, value);
}

static void print_percent(double value, int width, FILE *to)
{
    if (isnan(value))
        fprintf(to, " %*s", width, "none");
    else
        fprintf(to, " %*.2f", width, 100 * value);
}

static void print_events(const struct counters_report *r, FILE *to)
{
    int width = name_width(r->specs);
    char text[GROUPED_SIZE];
    fprintf(to, "\n %-*s %17s %8s | %20s | %31s | %s\n", width, "", "", "busiest", "distance", "error of the total, %",
            "true count in interval");
    fprintf(to, " %-*s %17s %8s | %9s %10s | %9s %10s %10s | %9s %10s\n", width, "event", "true count", "slice, %",
            "linear", check_estimator(CHECK_DEFAULT)->name, "linear", check_estimator(CHECK_DEFAULT)->name, "interval",
            "linear", check_estimator(CHECK_DEFAULT)->name);
    for (size_t i = 0; i < r->specs->count; i++) {
        const struct counter_checked *e = &r->event[i];
        fprintf(to, " %-*s %17s", width, r->specs->of[i].text, grouped(e->truth, text));
        print_percent(e->busiest, 8, to);
        fputs(" |", to);
        print_number(e->by[CHECK_LINEAR].distance, 9, to);
        print_number(e->by[CHECK_DEFAULT].distance, 10, to);
        fputs(" |", to);
        print_percent(e->by[CHECK_LINEAR].error, 9, to);
        print_percent(e->by[CHECK_DEFAULT].error, 10, to);
        print_percent(e->truth ? estimate_half(&e->by[CHECK_DEFAULT].total) / (double)e->truth : NAN, 10, to);
        fprintf(to, " | %9s %10s%s\n", e->by[CHECK_LINEAR].holds ? "yes" : "no",
                e->by[CHECK_DEFAULT].holds ? "yes" : "no", e->by[CHECK_DEFAULT].total.bursty ? "  bursty" : "");
    }
}

static void print_replayed(const struct counters_report *r, FILE *to)
{
    int width = name_width(r->specs);
    fprintf(to, "\n Replayed in %" PRIu64 " other orders, means:\n", r->seeds);
    fprintf(to, " %-*s | %20s | %20s | %s\n", width, "", "distance", "error of the total, %",
            "true count in interval, %");
    fprintf(to, " %-*s | %9s %10s | %9s %10s | %9s %10s\n", width, "event", "linear",
            check_estimator(CHECK_DEFAULT)->name, "linear", check_estimator(CHECK_DEFAULT)->name, "linear",
            check_estimator(CHECK_DEFAULT)->name);
    for (size_t i = 0; i < r->specs->count; i++) {
        const struct replayed *e = r->replayed[i];
        fprintf(to, " %-*s |", width, r->specs->of[i].text);
        print_number(e[CHECK_LINEAR].distance, 9, to);
        print_number(e[CHECK_DEFAULT].distance, 10, to);
        fputs(" |", to);
        print_percent(e[CHECK_LINEAR].error, 9, to);
        print_percent(e[CHECK_DEFAULT].error, 10, to);
        fprintf(to, " | %9.1f %10.1f\n", 100 * (double)e[CHECK_LINEAR].held / (double)r->seeds,
                100 * (double)e[CHECK_DEFAULT].held / (double)r->seeds);
    }
}

static void print_sweep(const struct counters_report *r, FILE *to)
{
    int width = name_width(r->specs);
    char text[GROUPED_SIZE];
    fprintf(
        to,
        "\n Distances of the linear estimator at other slices and ratios: a run with short slices replayed, mean of "
        "%u orders each.\n %-*s",
        r->draws, width, "slice");
    for (size_t p = 0; p < r->points; p++)
        fprintf(to, " %9s", grouped(r->sweep[p].slice, text));
    fprintf(to, "\n %-*s", width, "ratio");
    for (size_t p = 0; p < r->points; p++)
        fprintf(to, " %9" PRIu32, r->sweep[p].ratio);
    fprintf(to, "\n %-*s", width, "rounds");
    for (size_t p = 0; p < r->points; p++)
        fprintf(to, " %9zu", r->sweep[p].rounds);
    fputc('\n', to);
    for (size_t i = 0; i < r->specs->count; i++) {
        fprintf(to, " %-*s", width, r->specs->of[i].text);
        for (size_t p = 0; p < r->points; p++)
            print_number(r->sweep[p].rounds > 1 ? r->sweep[p].distance[i][CHECK_LINEAR] : NAN, 9, to);
        fputc('\n', to);
    }
}

void counters_report_print(const struct counters_report *r, FILE *to)
{
    const struct plan *p = r->plan;
    char slice[GROUPED_SIZE], round[GROUPED_SIZE];
    run_report_print_begin(&r->run, to);
    print_events(r, to);
    if (r->replayed)
        print_replayed(r, to);
    if (r->points)
        print_sweep(r, to);
    fprintf(to,
            "\n %zu events in %zu groups; slices of %s cycles, rounds of %s, in which each group has one slice; %zu "
            "whole rounds.\n",
            p->event_count, p->group_count, grouped(p->slice, slice), grouped(p->slice * p->slots, round), r->rounds);
    fputs(" busiest slice: mean share of a round's events that its busiest slice has. `interval` is half of the 95 % "
          "interval.\n"
          " N/A: rarer than once in 10,000 cycles.\n",
          to);
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
