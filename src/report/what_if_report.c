#include "report/what_if_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/text_table.h"

/* ---- values */

static double per(double cycles, uint64_t insns)
{
    return insns ? cycles / (double)insns : 0;
}

/* By how much a number is different from another one, in percent. */
static double percent_from(double to, double from)
{
    return from > 0 ? 100 * (to / from - 1) : 0;
}

/* A percentage for the page, on which a change that is rounded to 0 has the sign +. */
static double shown(double percent)
{
    const double least = 0.05;
    return fabs(percent) < least ? 0 : percent;
}

static double predicted_cpi(const struct stack_interval *total, unsigned i)
{
    return per(stack_what_if_cycles(total, i), total->instructions);
}

static double predicted_change(const struct stack_interval *total, unsigned i)
{
    return percent_from(stack_what_if_cycles(total, i), (double)total->cycles);
}

/* The changed parameters with the values that they get. */
static json_t *settings_json(const struct core_config *core, const struct core_config *changed)
{
    json_t *object = json_object();
    for (size_t i = 0; i < core_param_count; i++) {
        const struct param *p = &core_params[i];
        uint64_t value = param_value(changed, p);
        char name[96], text[64];
        if (param_value(core, p) == value)
            continue;
        snprintf(name, sizeof name, "%s.%s", p->section, p->key);
        param_text(changed, p, text, sizeof text);
        json_object_set_new(object, name,
                            p->type == PARAM_CHOICE ? json_string(text)
                            : p->type == PARAM_FLAG ? json_boolean(value)
                                                    : json_integer((json_int_t)value));
    }
    return object;
}

static json_t *prediction_json(const struct stack_interval *total, const struct core_config *core,
                               const struct what_ifs *w, unsigned i)
{
    return json_pack("{s:s, s:o, s:f, s:f, s:f}", "what_if", w->of[i].text, "settings",
                     settings_json(core, &w->of[i].core), "cycles", stack_what_if_cycles(total, i), "cpi",
                     predicted_cpi(total, i), "change_percent", predicted_change(total, i));
}

/* ---- predictions */

void what_if_report_print(const struct stack_interval *total, const struct core_config *core, const struct what_ifs *w,
                          FILE *to)
{
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "what if");
    text_column(t, TEXT_NUMBER, "CPI");
    text_column(t, TEXT_BESIDE, "% of cycles");
    text_column(t, TEXT_WRAP, "");
    for (unsigned i = 0; i < w->count; i++) {
        char changes[512];
        what_if_describe(&w->of[i], core, changes, sizeof changes);
        text_cell(t, "%s", w->of[i].text);
        text_cell(t, "%.4f", predicted_cpi(total, i));
        text_cell(t, "%+.1f", shown(predicted_change(total, i)));
        text_cell(t, "%s", changes);
    }
    text_table_print(t, to, 1, PAGE_COLUMNS);
    fputc('\n', to);
}

json_t *what_if_report_json(const struct stack_interval *total, const struct core_config *core,
                            const struct what_ifs *w)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < w->count; i++)
        json_array_append_new(array, prediction_json(total, core, w, i));
    return array;
}

void what_if_report_csv(const struct stack_interval *total, const struct what_ifs *w, FILE *to)
{
    for (unsigned i = 0; i < w->count; i++) {
        fprintf(to, "what-if %s,0,%" PRIu64 ",%.0f,%.6f", w->of[i].text, total->instructions,
                stack_what_if_cycles(total, i), predicted_cpi(total, i));
        for (unsigned c = 0; c < COMPONENTS; c++)
            fputc(',', to);
        fputc('\n', to);
    }
}

/* ---- beside simulations */

static double simulated_cpi(const struct what_if_run *r)
{
    return per((double)r->cycles, r->instructions);
}

/* The error of the predicted CPI, in percent of the simulated one. */
static double error_of(const struct what_if_validation *v, unsigned i)
{
    return percent_from(predicted_cpi(v->total, i), simulated_cpi(&v->runs[i]));
}

static double simulated_change(const struct what_if_validation *v, unsigned i)
{
    return percent_from(simulated_cpi(&v->runs[i]), run_report_cpi(&v->run));
}

/* The mean of the absolute values of all errors, and the largest. */
struct errors {
    double mean, most;
    unsigned count;
};

static struct errors errors_of(const struct what_if_validation *v)
{
    struct errors e = {0};
    for (unsigned i = 0; i < v->what_ifs->count; i++) {
        double error = error_of(v, i);
        if (v->runs[i].cycles == 0)
            continue;
        e.count++;
        e.mean += (fabs(error) - e.mean) / e.count;
        e.most = fabs(error) > fabs(e.most) ? error : e.most;
    }
    return e;
}

static void put_row(const struct what_if_validation *v, unsigned i, struct text_table *t)
{
    bool done = v->runs[i].cycles != 0;
    text_cell(t, "%s", v->what_ifs->of[i].text);
    text_cell(t, "%.4f", predicted_cpi(v->total, i));
    if (!done) {
        text_end_row(t);
        text_remark(t, "not simulated: %s", v->runs[i].why);
        return;
    }
    text_cell(t, "%.4f", simulated_cpi(&v->runs[i]));
    text_cell(t, "%+.2f", error_of(v, i));
    text_cell(t, "%+.1f", shown(predicted_change(v->total, i)));
    text_cell(t, "%+.1f", shown(simulated_change(v, i)));
}

void what_if_validation_print(const struct what_if_validation *v, FILE *to)
{
    struct errors e = errors_of(v);
    struct text_table *t = text_table_new();
    run_report_print_cpi(&v->run, to);
    fputs("\n\n", to);
    text_column(t, TEXT_LEFT, "what if");
    text_over(t, "CPI");
    text_column(t, TEXT_NUMBER, "graph");
    text_column(t, TEXT_NUMBER, "simulated");
    text_column(t, TEXT_NUMBER, "error, %");
    text_over(t, "change, %");
    text_column(t, TEXT_NUMBER, "graph");
    text_column(t, TEXT_NUMBER, "simulated");
    for (unsigned i = 0; i < v->what_ifs->count; i++)
        put_row(v, i, t);
    text_table_print(t, to, 1, PAGE_COLUMNS);
    fputc('\n', to);
    text_paragraph(to,
                   "The graph predicts the CPI of changed cores from the run on the core as it is. Mean absolute error "
                   "%.2f %%, largest %+.2f %%. With nothing changed it takes %.2f %% %s cycles than simulated.",
                   e.mean, e.most, fabs(stack_graph_error(v->total)),
                   stack_graph_error(v->total) < 0 ? "fewer" : "more");
    run_report_print_end(&v->run, to);
}

json_t *what_if_validation_json(const struct what_if_validation *v)
{
    struct errors e = errors_of(v);
    json_t *root = run_report_json(&v->run, "validate what-if"), *rows = json_array();
    for (unsigned i = 0; i < v->what_ifs->count; i++) {
        json_t *row = prediction_json(v->total, v->run.simulation->core, v->what_ifs, i);
        bool done = v->runs[i].cycles != 0;
        json_object_set_new(row, "simulated_cycles", done ? json_integer((json_int_t)v->runs[i].cycles) : json_null());
        json_object_set_new(row, "simulated_cpi", done ? json_real(simulated_cpi(&v->runs[i])) : json_null());
        json_object_set_new(row, "simulated_change_percent", done ? json_real(simulated_change(v, i)) : json_null());
        json_object_set_new(row, "error_percent", done ? json_real(error_of(v, i)) : json_null());
        json_object_set_new(row, "failed", done ? json_null() : json_string(v->runs[i].why));
        json_array_append_new(rows, row);
    }
    json_object_set_new(root, "what_ifs", rows);
    json_object_set_new(root, "mean_error_percent", e.count ? json_real(e.mean) : json_null());
    json_object_set_new(root, "largest_error_percent", e.count ? json_real(e.most) : json_null());
    json_object_set_new(root, "graph_error_percent", json_real(stack_graph_error(v->total)));
    return root;
}

void what_if_validation_csv(const struct what_if_validation *v, FILE *to)
{
    fputs("what_if,cpi,simulated_cpi,error_percent,change_percent,simulated_change_percent\n", to);
    for (unsigned i = 0; i < v->what_ifs->count; i++) {
        fprintf(to, "%s,%.6f,", v->what_ifs->of[i].text, predicted_cpi(v->total, i));
        if (v->runs[i].cycles)
            fprintf(to, "%.6f,%.4f,%.4f,%.4f\n", simulated_cpi(&v->runs[i]), error_of(v, i),
                    predicted_change(v->total, i), simulated_change(v, i));
        else
            fprintf(to, ",,%.4f,\n", predicted_change(v->total, i));
    }
}
