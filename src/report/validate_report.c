#include "report/validate_report.h"

#include <inttypes.h>

#include "report/stack_chart.h"
#include "report/stack_report.h"

/* Columns: the reference in both orders, then the methods. */
enum { COLUMNS = REFERENCE_ORDERS + STACK_KINDS };

struct column {
    const char *name;
    int64_t cycles[COMPONENTS];
    bool is_method;
    struct stack_error error[REFERENCE_ORDERS]; /* of a method, against each order */
};

static unsigned find_columns(const struct validate_report *r, struct column column[COLUMNS])
{
    uint64_t cycles[REFERENCE_RUNS];
    unsigned n = 0;
    for (unsigned i = 0; i < REFERENCE_RUNS; i++)
        cycles[i] = r->runs[i].cycles;
    for (; n < REFERENCE_ORDERS; n++) {
        column[n] = (struct column){.name = reference_names[n]};
        reference_stack(n, cycles, column[n].cycles);
    }
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        if (stack_rows[k].view)
            continue;
        struct column *c = &column[n++];
        *c = (struct column){.name = stack_rows[k].name, .is_method = true};
        stack_cycles(r->total, r->run.simulation->core, (enum stack_kind)k, c->cycles);
        for (unsigned o = 0; o < REFERENCE_ORDERS; o++)
            c->error[o] = stack_error(c->cycles, column[o].cycles, r->total->cycles);
    }
    return n;
}

static double cpi_of(const struct validate_report *r, int64_t cycles)
{
    return r->total->instructions ? (double)cycles / (double)r->total->instructions : 0;
}

/* ---- text */

static void print_cell(const struct validate_report *r, const struct column *c, unsigned component, FILE *to)
{
    if (!c->is_method && component_rows[component].parent != component)
        fprintf(to, " %14s", "in base");
    else if (c->cycles[component] == REFERENCE_UNKNOWN)
        fprintf(to, " %14s", "?");
    else
        fprintf(to, " %14.4f", cpi_of(r, c->cycles[component]));
}

static void print_errors(const struct column *column, unsigned n, unsigned order, FILE *to)
{
    fprintf(to, " %-20s", order ? "... to the inverse" : "largest error, %");
    for (unsigned i = 0; i < n; i++) {
        const struct stack_error *e = &column[i].error[order];
        if (column[i].is_method && e->known)
            fprintf(to, " %7.2f %-*s", e->percent, i + 1 < n ? 6 : 0, component_rows[e->component].key);
        else
            fprintf(to, " %14s", column[i].is_method ? "?" : "");
    }
    fputc('\n', to);
}

static void print_heading(const struct column *column, unsigned n, FILE *to)
{
    fprintf(to, "\n %-20s", "CPI");
    for (unsigned i = 0; i < n; i++)
        fprintf(to, " %14s", i == 1 ? "inverse order" : column[i].name);
    fputc('\n', to);
}

static void print_failures(const struct validate_report *r, FILE *to)
{
    char text[128];
    for (unsigned i = 0; i < REFERENCE_RUNS; i++)
        if (r->runs[i].why)
            fprintf(to, " The run with %s failed: %s\n", reference_run_text(&reference_runs[i], text, sizeof text),
                    r->runs[i].why);
}

void validate_report_print(const struct validate_report *r, FILE *to)
{
    struct column column[COLUMNS];
    unsigned n = find_columns(r, column);
    char insns[GROUPED_SIZE], cycles[GROUPED_SIZE];
    fprintf(to, "\n %s on the core %s: %s instructions, %s cycles, CPI %.3f\n", r->run.program,
            r->run.simulation->core->name, grouped(r->total->instructions, insns), grouped(r->total->cycles, cycles),
            cpi_of(r, (int64_t)r->total->cycles));
    if (r->total->instructions) {
        print_heading(column, n, to);
        for (unsigned c = COMPONENTS; c-- > 0;) {
            fprintf(to, " %-20s", component_rows[c].label);
            for (unsigned i = 0; i < n; i++)
                print_cell(r, &column[i], c, to);
            fputc('\n', to);
        }
        fputc('\n', to);
        for (unsigned o = 0; o < REFERENCE_ORDERS; o++)
            print_errors(column, n, o, to);
        fprintf(to, "\n Front-end and long back-end penalties overlap in %.2f %% of cycles.\n",
                r->total->cycles ? 100 * (double)r->total->overlap_cycles / (double)r->total->cycles : 0);
    }
    if (r->total->instructions == 0)
        fputs(" The program ended before the part that is measured.\n", to);
    print_failures(r, to);
    fprintf(to, " %u runs, %.1f seconds\n\n", REFERENCE_RUNS, r->seconds);
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

static void add_errors(json_t *root, const struct column *column, unsigned n, unsigned order, const char *key)
{
    json_t *percent = json_object(), *component = json_object();
    char name[64];
    for (unsigned i = 0; i < n; i++) {
        const struct stack_error *e = &column[i].error[order];
        if (!column[i].is_method || !e->known)
            continue;
        json_object_set_new(percent, column[i].name, json_real(e->percent));
        json_object_set_new(component, column[i].name, json_string(component_rows[e->component].key));
    }
    snprintf(name, sizeof name, "%s_component", key);
    json_object_set_new(root, key, percent);
    json_object_set_new(root, name, component);
}

static json_t *runs_json(const struct validate_report *r)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < REFERENCE_RUNS; i++) {
        json_t *real = json_array();
        for (unsigned c = 0; c < COMPONENTS; c++)
            if (reference_runs[i].real >> c & 1)
                json_array_append_new(real, json_string(component_rows[c].key));
        json_array_append_new(array,
                              json_pack("{s:o, s:I, s:f, s:s?}", "real", real, "cycles", (json_int_t)r->runs[i].cycles,
                                        "seconds", r->runs[i].seconds, "failed", r->runs[i].why));
    }
    return array;
}

json_t *validate_report_json(const struct validate_report *r)
{
    struct column column[COLUMNS];
    unsigned n = find_columns(r, column);
    json_t *root = run_report_json(&r->run, "validate"), *stacks = json_object();
    if (root == NULL) {
        json_decref(stacks);
        return NULL;
    }
    for (unsigned i = 0; i < n; i++)
        json_object_set_new(stacks, column[i].name, column_json(r, &column[i]));
    json_object_set_new(root, "stacks", stacks);
    add_errors(root, column, n, 0, "max_error");
    add_errors(root, column, n, 1, "max_error_inverse");
    json_object_set_new(
        root, "overlap_percent",
        json_real(r->total->cycles ? 100 * (double)r->total->overlap_cycles / (double)r->total->cycles : 0));
    json_object_set_new(root, "penalties", penalties_json(&r->run, r->total));
    json_object_set_new(root, "runs", runs_json(r));
    return root;
}

/* ---- CSV and SVG */

void validate_report_csv(const struct validate_report *r, FILE *to)
{
    struct column column[COLUMNS];
    unsigned n = find_columns(r, column);
    fputs("method,instructions,cycles,cpi", to);
    for (unsigned c = 0; c < COMPONENTS; c++)
        fprintf(to, ",%s", component_rows[c].key);
    fputs(",max_error_percent,max_error_component,max_error_inverse_percent,max_error_inverse_component\n", to);
    for (unsigned i = 0; i < n; i++) {
        fprintf(to, "%s,%" PRIu64 ",%" PRIu64 ",%.6f", column[i].name, r->total->instructions, r->total->cycles,
                cpi_of(r, (int64_t)r->total->cycles));
        for (unsigned c = 0; c < COMPONENTS; c++)
            if (column[i].cycles[c] == REFERENCE_UNKNOWN)
                fputc(',', to);
            else
                fprintf(to, ",%.6f", cpi_of(r, column[i].cycles[c]));
        for (unsigned o = 0; o < REFERENCE_ORDERS; o++) {
            const struct stack_error *e = &column[i].error[o];
            if (column[i].is_method && e->known)
                fprintf(to, ",%.4f,%s", e->percent, component_rows[e->component].key);
            else
                fputs(",,", to);
        }
        fputc('\n', to);
    }
}

void validate_report_svg(const struct validate_report *r, FILE *to)
{
    struct column column[COLUMNS];
    unsigned n = find_columns(r, column);
    double cpi[COLUMNS][COMPONENTS];
    struct stack_bar bar[COLUMNS];
    char title[256];
    for (unsigned i = 0; i < n; i++) {
        bar[i] = (struct stack_bar){.name = column[i].name, .cpi = cpi[i]};
        for (unsigned c = 0; c < COMPONENTS; c++)
            cpi[i][c] = column[i].cycles[c] == REFERENCE_UNKNOWN ? 0 : cpi_of(r, column[i].cycles[c]);
    }
    struct stack_group group = {
        .name = r->run.program, .count = n, .bar = bar, .hundred = cpi_of(r, (int64_t)r->total->cycles)};
    snprintf(title, sizeof title, "CPI on %s", r->run.simulation->core->name);
    stack_svg_write(&(struct stack_chart){.title = title, .group = &group, .count = 1, .normalized = true}, to);
}
