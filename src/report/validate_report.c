#include "report/validate_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/stack_chart.h"
#include "report/stack_report.h"
#include "report/text_table.h"
#include "stacks/balance.h"

/* What a method is compared with: the reference and, if it is the mean of all orders, also the paper's order and the
 * range of all orders. */
enum { REFERENCE, PAPER, RANGE, AGAINST };

static const struct {
    const char *name;        /* of the reference's stack in documents; NULL for the range */
    const char *label, *key; /* of the largest error, on the page and in documents */
} against_rows[AGAINST] = {
    {"simulation", "largest error, %", "max_error"},
    {"simulation_paper", "... to the paper's", "max_error_paper"},
    {NULL, "... outside all", "max_error_outside"},
};

/* Heading of the reference on the page, by what `orders` of the plan are. */
static const char *const reference_headings[] = {
    [REFERENCE_ALL] = "mean order", [REFERENCE_PAPER] = "paper's order", [REFERENCE_INVERSE] = "inverse order"};

/* A structure that saves more cycles than this, in percent, is named on the page. */
static const double LEAST_NOISE_PERCENT = 0.005;

struct column {
    const char *name, *heading;
    int64_t cycles[COMPONENTS];
    bool is_method;
    struct stack_error error[AGAINST]; /* of a method; not known for a reference */
};

/* Columns: the stacks of the reference, then those of the methods. */
enum { VALIDATE_COLUMNS = RANGE + STACK_KINDS };

struct comparison {
    struct column column[VALIDATE_COLUMNS];
    unsigned references;          /* number of leading columns that are references */
    unsigned columns;             /* number of all columns */
    unsigned errors;              /* elements of column.error that are used */
    bool all;                     /* the reference is the mean of all orders */
    struct reference_range range; /* set only if `all` */
    struct reference_noise noise;
};

static void find_references(const struct validate_report *r, struct comparison *x)
{
    uint64_t cycles[REFERENCE_ALL_RUNS];
    for (unsigned i = 0; i < r->plan->count; i++)
        cycles[i] = r->runs[i].cycles;
    x->all = r->plan->orders == REFERENCE_ALL;
    x->references = x->all ? RANGE : PAPER;
    x->errors = x->all ? AGAINST : PAPER;
    x->noise = reference_noise(r->plan, cycles);
    for (unsigned i = 0; i < x->references; i++)
        x->column[i] = (struct column){.name = against_rows[i].name,
                                       .heading = reference_headings[i == PAPER ? REFERENCE_PAPER : r->plan->orders]};
    if (x->all) {
        reference_all_orders(r->plan, cycles, &x->range);
        memcpy(x->column[REFERENCE].cycles, x->range.mean, sizeof x->range.mean);
        reference_stack(r->plan, REFERENCE_PAPER, cycles, x->column[PAPER].cycles);
    } else {
        reference_stack(r->plan, r->plan->orders, cycles, x->column[REFERENCE].cycles);
    }
}

static void compare(const struct validate_report *r, struct comparison *x)
{
    find_references(r, x);
    x->columns = x->references;
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        struct error unused;
        if (stack_rows[k].view || stack_check(r->run.simulation->core, (enum stack_kind)k, &unused) != 0)
            continue; /* a view, or a method that the core lacks */
        struct column *c = &x->column[x->columns++];
        *c = (struct column){.name = stack_rows[k].name, .heading = stack_rows[k].name, .is_method = true};
        stack_cycles(r->total, r->run.simulation->core, (enum stack_kind)k, c->cycles);
        for (unsigned i = 0; i < x->references; i++)
            c->error[i] = stack_error(c->cycles, x->column[i].cycles, r->total->cycles);
        if (x->all)
            c->error[RANGE] = stack_error_outside(c->cycles, &x->range, r->total->cycles);
    }
}

static double percent_of(const struct validate_report *r, int64_t cycles)
{
    return r->total->cycles ? 100 * (double)cycles / (double)r->total->cycles : 0;
}

static double cpi_of(const struct validate_report *r, int64_t cycles)
{
    return r->total->instructions ? (double)cycles / (double)r->total->instructions : 0;
}

/* ---- text */

static void put_cell(const struct validate_report *r, const struct column *c, unsigned component, struct text_table *t)
{
    if (!c->is_method && component_rows[component].parent != component)
        text_cell(t, "in base");
    else if (c->cycles[component] == REFERENCE_UNKNOWN)
        text_cell(t, "?");
    else
        text_cell(t, "%.4f", cpi_of(r, c->cycles[component]));
}

static void put_errors(const struct comparison *x, unsigned against, struct text_table *t)
{
    text_cell(t, "%s", against_rows[against].label);
    for (unsigned i = 0; i < x->columns; i++) {
        const struct column *c = &x->column[i];
        const struct stack_error *e = &c->error[against];
        if (c->is_method && e->known)
            text_cell(t, "%.2f %s", e->percent, component_rows[e->component].key);
        else
            text_cell(t, "%s", c->is_method ? "?" : "");
    }
}

static void print_stacks(const struct validate_report *r, const struct comparison *x, FILE *to, unsigned columns)
{
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "CPI");
    for (unsigned i = 0; i < x->columns; i++)
        text_column(t, TEXT_NUMBER, x->column[i].heading);
    for (unsigned c = COMPONENTS; c-- > 0;) {
        text_cell(t, "%s", component_rows[c].label);
        for (unsigned i = 0; i < x->columns; i++)
            put_cell(r, &x->column[i], c, t);
    }
    text_empty_line(t);
    for (unsigned i = 0; i < x->errors; i++)
        put_errors(x, i, t);
    fputc('\n', to);
    text_table_print(t, to, 1, columns);
}

/* The largest half interval of a CPI among all sampled runs, in percent of that CPI. */
static double largest_half_percent(const struct validate_report *r)
{
    double most = 0;
    for (unsigned i = 0; i < r->plan->count; i++) {
        double cpi = r->total->instructions ? (double)r->runs[i].cycles / (double)r->total->instructions : 0;
        if (cpi > 0)
            most = fmax(most, 100 * r->runs[i].sample.cpi_half / cpi);
    }
    return most;
}

static void print_sample(const struct validate_report *r, FILE *to)
{
    const struct sample_summary *s = &r->runs[0].sample;
    char length[GROUPED_SIZE], insns[GROUPED_SIZE], head[GROUPED_SIZE], first[GROUPED_SIZE + 16] = "";
    if (s->whole) {
        text_paragraph(to, "The program is so short that every run was simulated whole.");
        return;
    }
    if (s->head)
        snprintf(first, sizeof first, " and the first %s", grouped(s->head, head));
    text_paragraph(
        to,
        "Every run is estimated from the same %zu windows of %s instructions%s, %.2f %% of %s. The CPI is known "
        "to ±%.2f %%, and that of all runs to ±%.2f %% at worst (95 %% intervals).",
        s->windows, grouped(s->window_insns, length), first, 100 * (double)s->measured / (double)r->total->instructions,
        grouped(r->total->instructions, insns), 100 * s->cpi_half / cpi_of(r, (int64_t)r->total->cycles),
        largest_half_percent(r));
    if (s->failed)
        text_paragraph(to, "%zu windows could not be simulated.", s->failed);
    if (s->strayed)
        text_paragraph(
            to, "%zu windows strayed from the run itself: the program renames or makes files, or starts processes.",
            s->strayed);
}

static json_t *sample_json(const struct validate_report *r)
{
    const struct sample_summary *s = &r->runs[0].sample;
    if (s->whole)
        return json_pack("{s:s}", "method", "whole");
    return json_pack("{s:s, s:I, s:I, s:I, s:f, s:o, s:f}", "method", s->systematic ? "systematic" : "points",
                     "windows", (json_int_t)s->windows, "failed", (json_int_t)s->failed, "strayed",
                     (json_int_t)s->strayed, "measured_percent",
                     100 * (double)s->measured / (double)r->total->instructions, "cpi",
                     interval_json(cpi_of(r, (int64_t)r->total->cycles), s->cpi_half), "largest_half_percent",
                     largest_half_percent(r));
}

/* The second-order effects of the reference. */
static void print_noise(const struct validate_report *r, const struct reference_noise *n, FILE *to)
{
    struct reference_run others = {n->real};
    char text[128];
    double percent = percent_of(r, n->cycles);
    if (percent >= LEAST_NOISE_PERCENT)
        text_paragraph(
            to,
            "Noise of the reference: at least %.2f %% of cycles. So many are saved when %s becomes real (before "
            "that %s), because caches and predictors then hold something else.",
            percent, component_rows[n->component].key, reference_run_text(&others, text, sizeof text));
    else
        text_paragraph(to, "Noise of the reference: not found. No structure saves cycles when it becomes real.");
}

static void print_failures(const struct validate_report *r, FILE *to)
{
    char text[128];
    for (unsigned i = 0; i < r->plan->count; i++)
        if (r->runs[i].why)
            text_paragraph(to, "The run with %s failed: %s", reference_run_text(&r->plan->run[i], text, sizeof text),
                           r->runs[i].why);
}

void validate_report_print(const struct validate_report *r, FILE *to, unsigned columns)
{
    struct comparison x;
    compare(r, &x);
    char insns[GROUPED_SIZE], cycles[GROUPED_SIZE];
    run_report_print_begin(&r->run, to);
    fprintf(to, " %s instructions, %s cycles, CPI %.3f\n", grouped(r->total->instructions, insns),
            grouped(r->total->cycles, cycles), cpi_of(r, (int64_t)r->total->cycles));
    if (r->total->instructions && r->sampled)
        print_sample(r, to);
    if (r->total->instructions) {
        print_stacks(r, &x, to, columns);
        fprintf(to, "\n Front-end and long back-end penalties overlap in %.2f %% of cycles.\n",
                percent_of(r, (int64_t)r->total->overlap_cycles));
        print_noise(r, &x.noise, to);
    }
    if (r->total->instructions == 0)
        fputs(" The program ended before the part that is measured.\n", to);
    run_report_print_interruption(&r->run, to);
    print_failures(r, to);
    fprintf(to, " %u runs, %.1f seconds\n\n", r->plan->count, r->seconds);
}

/* ---- JSON */

static json_t *column_json(const struct validate_report *r, const struct column *c)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < COMPONENTS; i++) {
        bool absent = !c->is_method && component_rows[i].parent != i;
        if (!absent)
            json_object_set_new(object, component_rows[i].key,
                                c->cycles[i] == REFERENCE_UNKNOWN ? json_null() : json_real(cpi_of(r, c->cycles[i])));
    }
    return object;
}

/* Lowest and highest CPI of each component that the reference has. */
static json_t *range_json(const struct validate_report *r, const struct reference_range *range)
{
    json_t *object = json_object();
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (component_rows[c].parent == c)
            json_object_set_new(object, component_rows[c].key,
                                range->lowest[c] == REFERENCE_UNKNOWN
                                    ? json_null()
                                    : json_pack("[f, f]", cpi_of(r, range->lowest[c]), cpi_of(r, range->highest[c])));
    return object;
}

static void add_errors(json_t *root, const struct comparison *x, unsigned against)
{
    const char *key = against_rows[against].key;
    json_t *percent = json_object(), *component = json_object();
    char name[64];
    for (unsigned i = x->references; i < x->columns; i++) {
        const struct stack_error *e = &x->column[i].error[against];
        if (!e->known)
            continue;
        json_object_set_new(percent, x->column[i].name, json_real(e->percent));
        json_object_set_new(component, x->column[i].name, json_string(component_rows[e->component].key));
    }
    snprintf(name, sizeof name, "%s_component", key);
    json_object_set_new(root, key, percent);
    json_object_set_new(root, name, component);
}

/* Names of a set of structures. */
static json_t *real_json(unsigned real)
{
    json_t *array = json_array();
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (real >> c & 1)
            json_array_append_new(array, json_string(component_rows[c].key));
    return array;
}

static json_t *runs_json(const struct validate_report *r)
{
    struct error none;
    json_t *array = json_array();
    bool graph = stack_check(r->run.simulation->core, STACK_graph, &none) == 0;
    for (unsigned i = 0; i < r->plan->count; i++) {
        unsigned real = r->plan->run[i].real;
        json_t *run = json_pack("{s:o, s:I, s:f, s:s?}", "real", real_json(real), "cycles",
                                (json_int_t)r->runs[i].cycles, "seconds", r->runs[i].seconds, "failed", r->runs[i].why);
        if (graph)
            json_object_set_new(run, "graph_cycles", json_integer((json_int_t)stack_graph_cycles(r->total, real)));
        json_array_append_new(array, run);
    }
    return array;
}

/* Null if no structure saves cycles. */
static json_t *noise_json(const struct validate_report *r, const struct reference_noise *n)
{
    if (n->cycles == 0)
        return json_null();
    return json_pack("{s:I, s:f, s:s, s:o}", "cycles", (json_int_t)n->cycles, "percent", percent_of(r, n->cycles),
                     "component", component_rows[n->component].key, "real", real_json(n->real));
}

json_t *validate_report_json(const struct validate_report *r)
{
    struct comparison x;
    compare(r, &x);
    json_t *root = run_report_json(&r->run, "validate"), *stacks = json_object();
    if (root == NULL) {
        json_decref(stacks);
        return NULL;
    }
    for (unsigned i = 0; i < x.columns; i++)
        json_object_set_new(stacks, x.column[i].name, column_json(r, &x.column[i]));
    json_object_set_new(root, "stacks", stacks);
    if (r->sampled)
        json_object_set_new(root, "sampled", sample_json(r));
    json_object_set_new(root, "orders", json_string(reference_orders_name(r->plan->orders)));
    if (x.all)
        json_object_set_new(root, "simulation_range", range_json(r, &x.range));
    json_object_set_new(root, "noise", noise_json(r, &x.noise));
    for (unsigned i = 0; i < x.errors; i++)
        add_errors(root, &x, i);
    json_object_set_new(root, "overlap_percent", json_real(percent_of(r, (int64_t)r->total->overlap_cycles)));
    json_object_set_new(root, "base_times_width", json_real(balance_base(r->total, r->run.simulation->core)));
    json_object_set_new(root, "penalties", penalties_json(&r->run, r->total));
    json_object_set_new(root, "runs", runs_json(r));
    return root;
}

/* ---- CSV and SVG */

/* The first part of a line: all columns before the errors. */
static void csv_stack(const struct validate_report *r, const char *name, const int64_t cycles[COMPONENTS], FILE *to)
{
    fprintf(to, "%s,%" PRIu64 ",%" PRIu64 ",%.6f", name, r->total->instructions, r->total->cycles,
            cpi_of(r, (int64_t)r->total->cycles));
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (cycles[c] == REFERENCE_UNKNOWN)
            fputc(',', to);
        else
            fprintf(to, ",%.6f", cpi_of(r, cycles[c]));
}

/* The rest of a line: the errors. Fields are empty for a reference; `c` is NULL for the range, which is no column. */
static void csv_errors(const struct comparison *x, const struct column *c, FILE *to)
{
    for (unsigned i = 0; i < x->errors; i++)
        if (c && c->error[i].known)
            fprintf(to, ",%.4f,%s", c->error[i].percent, component_rows[c->error[i].component].key);
        else
            fputs(",,", to);
    fputc('\n', to);
}

void validate_report_csv(const struct validate_report *r, FILE *to)
{
    struct comparison x;
    compare(r, &x);
    fputs("method,instructions,cycles,cpi", to);
    for (unsigned c = 0; c < COMPONENTS; c++)
        fprintf(to, ",%s", component_rows[c].key);
    for (unsigned i = 0; i < x.errors; i++)
        fprintf(to, ",%s_percent,%s_component", against_rows[i].key, against_rows[i].key);
    fputc('\n', to);
    for (unsigned i = 0; i < x.columns; i++) {
        if (i == x.references && x.all) {
            csv_stack(r, "simulation_lowest", x.range.lowest, to);
            csv_errors(&x, NULL, to);
            csv_stack(r, "simulation_highest", x.range.highest, to);
            csv_errors(&x, NULL, to);
        }
        csv_stack(r, x.column[i].name, x.column[i].cycles, to);
        csv_errors(&x, &x.column[i], to);
    }
}

void validate_report_svg(const struct validate_report *r, FILE *to)
{
    struct comparison x;
    compare(r, &x);
    double cpi[VALIDATE_COLUMNS][COMPONENTS];
    struct stack_bar bar[VALIDATE_COLUMNS];
    char title[256];
    for (unsigned i = 0; i < x.columns; i++) {
        const struct column *column = &x.column[i];
        bar[i] = (struct stack_bar){.name = column->name, .cpi = cpi[i]};
        for (unsigned c = 0; c < COMPONENTS; c++)
            cpi[i][c] = column->cycles[c] == REFERENCE_UNKNOWN ? 0 : cpi_of(r, column->cycles[c]);
    }
    struct stack_group group = {
        .name = r->run.program, .count = x.columns, .bar = bar, .hundred = cpi_of(r, (int64_t)r->total->cycles)};
    snprintf(title, sizeof title, "CPI on %s", r->run.simulation->core->name);
    stack_svg_write(&(struct stack_chart){.title = title, .group = &group, .count = 1, .normalized = true}, to);
}
