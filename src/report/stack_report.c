#include "report/stack_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base_report.h"
#include "report/counts.h"
#include "report/graph_report.h"
#include "report/sampled_report.h"
#include "report/stack_chart.h"
#include "report/text_table.h"
#include "report/what_if_report.h"
#include "stacks/balance.h"
#include "stacks/penalty.h"

/* ---- values */

static bool shown(const struct stack_report *r, unsigned kind)
{
    return r->kinds >> kind & 1;
}

/* Cycles charged to a component. */
static double cycles_of(const struct stack_report *r, const struct stack_interval *s, unsigned kind, unsigned component)
{
    return (double)s->of[kind].parts[component] / (double)accounting_parts(r->accounting, (enum stack_kind)kind);
}

static double per(double cycles, uint64_t n)
{
    return n ? cycles / (double)n : 0;
}

static double cpi_of(const struct stack_report *r, const struct stack_interval *s, unsigned kind, unsigned component)
{
    return per(cycles_of(r, s, kind, component), s->instructions);
}

/* Half the width of the 95 % interval of a component's CPI, in a sampled run. */
static double half_of(const struct stack_report *r, unsigned kind, unsigned component)
{
    const struct stack_interval *total = accounting_total(r->accounting);
    size_t number = (size_t)((const uint64_t *)&total->of[kind].parts[component] - (const uint64_t *)total);
    return sampled_cycles_half(&r->run, SIMULATION_NUMBERS + number,
                               accounting_parts(r->accounting, (enum stack_kind)kind)) /
           (double)total->instructions;
}

/* ---- the table */

static void print_heading(const struct stack_report *r, FILE *to)
{
    run_report_print_cpi(&r->run, to);
    double half = r->run.sampled ? sampled_cpi_half(&r->run) : INFINITY;
    if (isfinite(half))
        fprintf(to, " ± %.3f", half);
    fputc('\n', to);
}

/* CPI and percent of a component, with its 95 % interval if it is an estimate. */
static void put_cells(const struct stack_report *r, double cpi, double half, struct text_table *t)
{
    text_cell(t, "%.4f", cpi);
    if (r->run.sampled && isfinite(half))
        text_cell(t, "%.4f", half);
    else if (r->run.sampled)
        text_cell(t, "%s", "");
    text_cell(t, "%.1f", 100 * cpi / run_report_cpi(&r->run));
}

static void print_table(const struct stack_report *r, FILE *to, unsigned columns)
{
    const struct stack_interval *total = accounting_total(r->accounting);
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "CPI");
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        if (!shown(r, k))
            continue;
        text_column(t, TEXT_NUMBER, stack_rows[k].name);
        if (r->run.sampled)
            text_column(t, TEXT_BESIDE, "±");
        text_column(t, TEXT_BESIDE, "%");
    }
    for (unsigned c = COMPONENTS; c-- > 0;) {
        text_cell(t, "%s", component_rows[c].label);
        for (unsigned k = 0; k < STACK_KINDS; k++)
            if (shown(r, k))
                put_cells(r, cpi_of(r, total, k, c), r->run.sampled ? half_of(r, k, c) : 0, t);
    }
    text_cell(t, "total");
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (shown(r, k))
            put_cells(r, run_report_cpi(&r->run), r->run.sampled ? sampled_cpi_half(&r->run) : 0, t);
    fputc('\n', to);
    text_table_print(t, to, 1, columns);
    fputc('\n', to);
}

/* Which method was chosen if none was named, and what the components are. */
static void print_charges(const struct stack_report *r, FILE *to)
{
    if (r->by_default && r->main != STACK_graph)
        graph_report_print_absence(r->run.simulation->core, accounting_total(r->accounting), stack_rows[r->main].name,
                                   to);
    if (shown(r, STACK_graph))
        text_paragraph(to, "graph, the dependence graph of the run: a component is what its structure adds, the mean "
                           "over all orders in which structures become real.");
    if (r->kinds & ~(1u << STACK_graph))
        fputs(" Each cycle is charged to what it was lost to. D-TLB: page walks, and data from\n"
              " the second or third cache after a walk (`stalls`: in data misses).\n",
              to);
    fputc('\n', to);
}

static bool needs_balance(const struct stack_report *r)
{
    return shown(r, STACK_fmt) || shown(r, STACK_fmt2);
}

/* A warning if the run is not what these methods take for granted. */
static void print_balance(const struct stack_report *r, FILE *to)
{
    double base = balance_base(accounting_total(r->accounting), r->run.simulation->core);
    if (!needs_balance(r) || base <= BALANCE_LIMIT)
        return;
    text_paragraph(to,
                   "Do not rely on %s here: the method takes for granted that the core dispatches at its width when "
                   "nothing misses, and this run takes %.1f times as many cycles then.",
                   !shown(r, STACK_fmt)    ? "fmt2"
                   : !shown(r, STACK_fmt2) ? "fmt"
                                           : "fmt and fmt2",
                   base);
    fputc('\n', to);
}

static void print_penalties(const struct stack_report *r, FILE *to)
{
    struct penalty p[PENALTIES];
    char text[GROUPED_SIZE];
    const struct stack_interval *total = accounting_total(r->accounting);
    penalties(r->run.simulation->core, &r->run.result.counts, total, p);
    fprintf(to, " %-16s %15s %18s %8s %8s\n", "cycles per", "events", "interval analysis", "naive", "power5");
    for (unsigned i = 0; i < PENALTIES; i++)
        fprintf(to, " %-16s %15s %18.2f %8.2f %8.2f\n", p[i].label, grouped(p[i].events, text), p[i].interval_analysis,
                p[i].naive, p[i].power5);
    fprintf(to, "\n Front-end and long back-end penalties overlap in %.2f %% of cycles.\n\n",
            100 * per((double)total->overlap_cycles, total->cycles));
}

/* The largest component other than the base, or COMPONENT_base if no other component is positive. */
static enum component largest(const struct stack_report *r)
{
    const struct stack *s = &accounting_total(r->accounting)->of[r->main];
    enum component best = COMPONENT_base;
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (c != COMPONENT_base && s->parts[c] > 0 && (best == COMPONENT_base || s->parts[c] > s->parts[best]))
            best = (enum component)c;
    return best;
}

static const char *advice(const struct stack_report *r, char *text, size_t size)
{
    const struct stack_interval *total = accounting_total(r->accounting);
    enum component c = largest(r);
    double lost = cpi_of(r, total, r->main, c), all = run_report_cpi(&r->run);
    if (c == COMPONENT_base)
        snprintf(text, size, "No cycle was lost to a miss or a long latency.");
    else if (r->main == STACK_graph)
        snprintf(text, size, "What would help most: %s (%s, %.3f of %.3f CPI): %.1f %% fewer cycles by the graph.",
                 component_rows[c].advice, component_rows[c].label, lost, all, graph_report_gain(total, c));
    else if (lost > all) /* naive methods ignore overlap */
        snprintf(text, size, "What would help most: %s (%s, %.3f of %.3f CPI: misses that overlap count in full).",
                 component_rows[c].advice, component_rows[c].label, lost, all);
    else
        snprintf(text, size, "What would help most: %s (%s, %.3f of %.3f CPI): at most %.1f %% fewer cycles.",
                 component_rows[c].advice, component_rows[c].label, lost, all,
                 100 * per(cycles_of(r, total, r->main, c), total->cycles));
    return text;
}

/* ---- charts */

static void chart_stacks(const struct stack_report *r, double cpi[STACK_KINDS][COMPONENTS],
                         struct stack_bar bar[STACK_KINDS], struct stack_group *group)
{
    *group = (struct stack_group){.name = r->run.program, .bar = bar};
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        if (!shown(r, k))
            continue;
        for (unsigned c = 0; c < COMPONENTS; c++)
            cpi[k][c] = cpi_of(r, accounting_total(r->accounting), k, c);
        bar[group->count++] = (struct stack_bar){.name = stack_rows[k].name, .cpi = cpi[k]};
    }
}

static void print_bars(const struct stack_report *r, FILE *to, bool color, unsigned columns)
{
    double cpi[STACK_KINDS][COMPONENTS];
    struct stack_bar bar[STACK_KINDS];
    struct stack_group group;
    chart_stacks(r, cpi, bar, &group);
    group.name = NULL;
    stack_bars_print(&(struct stack_chart){.group = &group, .count = 1}, to, color, columns);
    fputc('\n', to);
}

void stack_report_svg(const struct stack_report *r, FILE *to)
{
    double cpi[STACK_KINDS][COMPONENTS];
    struct stack_bar bar[STACK_KINDS];
    struct stack_group group;
    char title[256];
    chart_stacks(r, cpi, bar, &group);
    snprintf(title, sizeof title, "CPI on %s", r->run.simulation->core->name);
    stack_svg_write(&(struct stack_chart){.title = title, .group = &group, .count = 1}, to);
}

/* ---- the series */

enum { SERIES_LINES = 24 }; /* at most; if there are more intervals, a line shows several */

static void add_up(struct stack_interval *to, const struct stack_interval *s)
{
    to->instructions += s->instructions;
    to->cycles += s->cycles;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        for (unsigned c = 0; c < COMPONENTS; c++)
            to->of[k].parts[c] += s->of[k].parts[c];
}

static const char *short_number(uint64_t n, char text[16])
{
    static const char *const suffix[] = {"", "K", "M", "G", "T"};
    double x = (double)n;
    unsigned i = 0;
    for (; x >= 1000 && i < 4; i++)
        x /= 1000;
    snprintf(text, 16, i && x < 100 ? "%.1f%s" : "%.0f%s", x, suffix[i]);
    return text;
}

/* CPI over time by the main method: one bar per interval, or per several consecutive intervals. */
static void print_series(const struct stack_report *r, FILE *to, bool color, unsigned columns)
{
    size_t count, lines = SERIES_LINES, done = 0;
    const struct stack_interval *series = accounting_series(r->accounting, &count);
    double cpi[SERIES_LINES][COMPONENTS];
    char name[SERIES_LINES][16];
    struct stack_bar bar[SERIES_LINES];
    uint64_t insns = 0;
    if (count < lines)
        lines = count;
    for (size_t i = 0; i < lines; i++) {
        struct stack_interval sum = {0};
        bar[i] = (struct stack_bar){.name = short_number(insns, name[i]), .cpi = cpi[i]};
        for (size_t end = (i + 1) * count / lines; done < end; done++)
            add_up(&sum, &series[done]);
        for (unsigned c = 0; c < COMPONENTS; c++)
            cpi[i][c] = cpi_of(r, &sum, r->main, c);
        insns += sum.instructions;
    }
    char from[GROUPED_SIZE];
    fprintf(to, " CPI over instructions, by %s, %s interval%s:\n\n", stack_rows[r->main].name, grouped(count, from),
            count == 1 ? "" : "s");
    struct stack_group group = {.name = NULL, .count = lines, .bar = bar};
    stack_bars_print(&(struct stack_chart){.group = &group, .count = 1}, to, color, columns);
    fputc('\n', to);
}

void stack_report_print(const struct stack_report *r, FILE *to, bool color, unsigned columns)
{
    char text[512];
    print_heading(r, to);
    if (r->run.result.counts.core.instructions) {
        print_table(r, to, columns);
        print_charges(r, to);
        print_balance(r, to);
        print_bars(r, to, color, columns);
        if (r->series)
            print_series(r, to, color, columns);
        if (r->penalties)
            print_penalties(r, to);
        if (shown(r, STACK_graph))
            graph_report_print(accounting_total(r->accounting), to);
        if (r->interactions)
            graph_report_print_interactions(accounting_total(r->accounting), to);
        if (r->base)
            base_report_print(accounting_total(r->accounting), to);
        if (r->what_ifs->count)
            what_if_report_print(accounting_total(r->accounting), r->run.simulation->core, r->what_ifs, to);
        text_paragraph(to, "%s", advice(r, text, sizeof text));
        fputc('\n', to);
    }
    run_report_print_end(&r->run, to);
}

/* ---- JSON and CSV */

/* Cycles by component, divided by `divisor`; plain cycles if `divisor` is 0, as integers if the method counts whole
 * cycles. */
static json_t *stack_json(const struct stack_report *r, const struct stack_interval *s, unsigned kind, uint64_t divisor)
{
    json_t *object = json_object();
    uint64_t parts = accounting_parts(r->accounting, (enum stack_kind)kind);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        json_t *value = divisor == 0 && parts == 1
                            ? json_integer((json_int_t)s->of[kind].parts[c])
                            : json_real(cycles_of(r, s, kind, c) / (double)(divisor ? divisor : 1));
        json_object_set_new(object, component_rows[c].key, value);
    }
    return object;
}

/* Cycles by method and component, divided by `divisor`; plain cycles if `divisor` is 0. */
static json_t *stacks_json(const struct stack_report *r, const struct stack_interval *s, uint64_t divisor)
{
    json_t *object = json_object();
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (shown(r, k))
            json_object_set_new(object, stack_rows[k].name, stack_json(r, s, k, divisor));
    return object;
}

/* The 95 % interval of CPI by method and component. */
static json_t *intervals_json(const struct stack_report *r)
{
    const struct stack_interval *total = accounting_total(r->accounting);
    json_t *object = json_object();
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        if (!shown(r, k))
            continue;
        json_t *stack = json_object();
        for (unsigned c = 0; c < COMPONENTS; c++)
            json_object_set_new(stack, component_rows[c].key, interval_json(cpi_of(r, total, k, c), half_of(r, k, c)));
        json_object_set_new(object, stack_rows[k].name, stack);
    }
    return object;
}

static json_t *series_json(const struct stack_report *r)
{
    size_t count;
    const struct stack_interval *series = accounting_series(r->accounting, &count);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct stack_interval *s = &series[i];
        json_array_append_new(array,
                              json_pack("{s:I, s:I, s:f, s:f, s:o, s:o}", "instructions", (json_int_t)s->instructions,
                                        "cycles", (json_int_t)s->cycles, "cpi", per((double)s->cycles, s->instructions),
                                        "overlap_percent", 100 * per((double)s->overlap_cycles, s->cycles), "stacks",
                                        stacks_json(r, s, s->instructions ? s->instructions : 1), "stack_cycles",
                                        stacks_json(r, s, 0)));
    }
    return array;
}

json_t *penalties_json(const struct run_report *r, const struct stack_interval *total)
{
    struct penalty p[PENALTIES];
    json_t *object = json_object();
    penalties(r->simulation->core, &r->result.counts, total, p);
    for (unsigned i = 0; i < PENALTIES; i++)
        json_object_set_new(object, p[i].key,
                            json_pack("{s:I, s:f, s:f, s:f}", "events", (json_int_t)p[i].events, "interval_analysis",
                                      p[i].interval_analysis, "naive", p[i].naive, "power5", p[i].power5));
    return object;
}

json_t *stack_report_json(const struct stack_report *r)
{
    char text[512];
    const struct stack_interval *total = accounting_total(r->accounting);
    json_t *root = run_report_json(&r->run, "stack");
    if (root == NULL)
        return NULL;
    json_object_set_new(root, "events", counts_json(&r->run.result.counts));
    json_object_set_new(root, "stacks", stacks_json(r, total, total->instructions ? total->instructions : 1));
    json_object_set_new(root, "stack_cycles", stacks_json(r, total, 0));
    if (r->run.sampled) {
        json_object_set_new(root, "stack_intervals", intervals_json(r));
        json_object_set_new(root, "event_intervals", counts_intervals_json(&r->run));
    }
    if (needs_balance(r)) {
        double base = balance_base(total, r->run.simulation->core);
        json_object_set_new(root, "base_times_width", json_real(base));
        json_object_set_new(root, "unbalanced", json_boolean(base > BALANCE_LIMIT));
    }
    if (!stack_rows[r->main].view)
        json_object_set_new(root, "method", json_string(stack_rows[r->main].name));
    json_object_set_new(root, "overlap_percent", json_real(100 * per((double)total->overlap_cycles, total->cycles)));
    json_object_set_new(root, "advice", json_string(advice(r, text, sizeof text)));
    if (r->series)
        json_object_set_new(root, "intervals", series_json(r));
    if (r->penalties)
        json_object_set_new(root, "penalties", penalties_json(&r->run, total));
    if (shown(r, STACK_graph))
        json_object_set_new(root, "graph", graph_report_json(total, r->interactions));
    if (r->base) {
        json_object_set_new(root, "base", base_report_json(total, total->instructions ? total->instructions : 1));
        json_object_set_new(root, "base_cycles", base_report_json(total, 1));
    }
    if (r->what_ifs->count)
        json_object_set_new(root, "what_ifs", what_if_report_json(total, r->run.simulation->core, r->what_ifs));
    return root;
}

static void csv_row(const struct stack_report *r, const struct stack_interval *s, uint64_t from, unsigned kind,
                    FILE *to)
{
    fprintf(to, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f", stack_rows[kind].name, from, s->instructions, s->cycles,
            per((double)s->cycles, s->instructions));
    for (unsigned c = 0; c < COMPONENTS; c++)
        fprintf(to, ",%.6f", cpi_of(r, s, kind, c));
    fputc('\n', to);
}

void stack_report_csv(const struct stack_report *r, FILE *to)
{
    size_t count = 1;
    const struct stack_interval *series = accounting_total(r->accounting);
    if (r->series)
        series = accounting_series(r->accounting, &count);
    fputs("method,from,instructions,cycles,cpi", to);
    for (unsigned c = 0; c < COMPONENTS; c++)
        fprintf(to, ",%s", component_rows[c].key);
    fputc('\n', to);
    uint64_t from = 0;
    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < STACK_KINDS; k++)
            if (shown(r, k))
                csv_row(r, &series[i], from, k, to);
        from += series[i].instructions;
    }
    what_if_report_csv(accounting_total(r->accounting), r->what_ifs, to);
}
