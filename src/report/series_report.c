#include "report/series_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/series_picture.h"
#include "report/text_table.h"

/* ---- the page */

static void put_value(double value, struct text_table *t)
{
    if (isnan(value))
        text_cell(t, "-");
    else
        text_cell(t, "%.3f", value);
}

static void put_metric(const struct series_report *r, const struct series_metric *m, struct text_table *t)
{
    double low = (double)NAN, high = (double)NAN;
    for (size_t i = 0; i < series_count(r->series); i++) {
        double value = series_metric_value(r->series, m, i, i + 1);
        low = fmin(low, value); /* fmin and fmax ignore NAN */
        high = fmax(high, value);
    }
    text_cell(t, "%s", m->label);
    put_value(series_metric_value(r->series, m, 0, series_count(r->series)), t);
    put_value(low, t);
    put_value(high, t);
    text_cell(t, "%s", m->unit);
}

/* Forked processes are included in the counts of the run, but not in the intervals. */
static void print_rest(const struct series_report *r, FILE *to)
{
    char text[GROUPED_SIZE];
    uint64_t all = r->run->result.counts.core.instructions;
    uint64_t shown = series_growth(r->series, SERIES_INSNS, 0, series_count(r->series));
    if (all > shown)
        text_paragraph(to, "%s instructions of processes that the program forked are not in the intervals.",
                       grouped(all - shown, text));
}

void series_report_print(const struct series_report *r, FILE *to, unsigned columns)
{
    char text[GROUPED_SIZE];
    size_t count = series_count(r->series);
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "");
    text_column(t, TEXT_NUMBER, "all");
    text_column(t, TEXT_NUMBER, "lowest");
    text_column(t, TEXT_NUMBER, "highest");
    text_column(t, TEXT_WRAP, "");
    run_report_print_begin(r->run, to);
    fprintf(to, "\n %s interval%s of ", grouped(count, text), count == 1 ? "" : "s");
    fprintf(to, "%s instructions:\n\n", grouped(series_interval(r->series), text));
    for (size_t i = 0; i < r->metrics; i++)
        put_metric(r, &r->metric[i], t);
    text_table_print(t, to, 1, columns);
    series_picture_print(r, to, columns);
    fputc('\n', to);
    print_rest(r, to);
    run_report_print_end(r->run, to);
}

/* ---- CSV */

static void put_names(const struct series_report *r, FILE *to)
{
    fputs("from,instructions,cycles", to);
    for (size_t i = 0; i < r->specs->count; i++) {
        fputc(',', to);
        csv_text(r->specs->of[i].text, to);
    }
    bool named = r->metrics && r->metric[0].key != r->specs->of[0].text;
    for (size_t i = 0; named && i < r->metrics; i++)
        fprintf(to, ",%s", r->metric[i].key);
    fputs(r->phase ? ",phase\n" : "\n", to);
}

void series_report_csv(const struct series_report *r, FILE *to)
{
    bool named = r->metrics && r->metric[0].key != r->specs->of[0].text;
    put_names(r, to);
    for (size_t i = 0; i < series_count(r->series); i++) {
        fprintf(to, "%" PRIu64, series_growth(r->series, SERIES_INSNS, 0, i));
        for (unsigned c = 0; c < series_columns(r->series); c++)
            fprintf(to, ",%" PRIu64, series_growth(r->series, c, i, i + 1));
        for (size_t m = 0; named && m < r->metrics; m++) {
            double value = series_metric_value(r->series, &r->metric[m], i, i + 1);
            fprintf(to, isnan(value) ? "," : ",%.6f", value);
        }
        int phase = series_phase_of(r, i, i + 1);
        if (r->phase && phase >= 0)
            fprintf(to, ",%d", phase);
        else if (r->phase)
            fputc(',', to);
        fputc('\n', to);
    }
}

/* ---- JSON */

static json_t *metrics_json(const struct series_report *r, size_t from, size_t to)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->metrics; i++) {
        double value = series_metric_value(r->series, &r->metric[i], from, to);
        json_object_set_new(object, r->metric[i].key, isnan(value) ? json_null() : json_real(value));
    }
    return object;
}

static json_t *counts_of(const struct series_report *r, size_t from, size_t to)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->specs->count; i++)
        json_object_set_new(
            object, r->specs->of[i].text,
            json_integer((json_int_t)series_growth(r->series, (unsigned)(SERIES_EVENTS + i), from, to)));
    return object;
}

static json_t *interval_json(const struct series_report *r, size_t i)
{
    json_t *one =
        json_pack("{s:I, s:I, s:I, s:o, s:o}", "from", (json_int_t)series_growth(r->series, SERIES_INSNS, 0, i),
                  "instructions", (json_int_t)series_growth(r->series, SERIES_INSNS, i, i + 1), "cycles",
                  (json_int_t)series_growth(r->series, SERIES_CYCLES, i, i + 1), "counts", counts_of(r, i, i + 1),
                  "metrics", metrics_json(r, i, i + 1));
    int phase = r->phase ? series_phase_of(r, i, i + 1) : -1;
    if (one && phase >= 0)
        json_object_set_new(one, "phase", json_integer(phase));
    return one;
}

bool series_report_json(const struct series_report *r, json_t *root)
{
    json_t *array = json_array();
    bool whole = array != NULL;
    for (size_t i = 0; whole && i < series_count(r->series); i++)
        whole = json_array_append_new(array, interval_json(r, i)) == 0;
    json_object_set_new(root, "interval", json_integer((json_int_t)series_interval(r->series)));
    json_object_set_new(root, "metrics", metrics_json(r, 0, series_count(r->series)));
    return json_object_set_new(root, "intervals", array) == 0 && whole;
}
