#include "report/graph_report.h"

#include <math.h>

#include "report/run_report.h"
#include "report/text_table.h"
#include "stacks/interactions.h"

/* Interactions of fewer cycles, in percent of all, are not on the page. */
static const double LEAST_PERCENT = 0.1;

/* A graph that differs by more from the simulated cycles, in percent, has missed something. */
static const double MOST_PERCENT = 2;

static double percent_of(const struct stack_interval *total, double cycles)
{
    return total->cycles ? 100 * cycles / (double)total->cycles : 0;
}

/* By how much the graph's cycles with everything real differ from the simulated ones. */
static double error_percent(const struct stack_interval *total)
{
    return percent_of(total, (double)total->graph.with[GRAPH_EVERYTHING] - (double)total->cycles);
}

void graph_report_print(const struct stack_interval *total, FILE *to)
{
    char text[GROUPED_SIZE];
    double error = error_percent(total);
    text_paragraph(to, "With all structures real the dependence graph takes %s cycles, %.2f %% %s than simulated.%s",
                   grouped(total->graph.with[GRAPH_EVERYTHING], text), fabs(error), error < 0 ? "fewer" : "more",
                   fabs(error) > MOST_PERCENT ? " That is too far off: do not rely on the stack of graph for this run."
                                              : "");
    fputc('\n', to);
}

void graph_report_print_interactions(const struct stack_interval *total, FILE *to)
{
    struct interaction of[INTERACTIONS];
    struct text_table *t = text_table_new();
    interactions_find(&total->graph, of);
    text_column(t, TEXT_LEFT, "interactions");
    text_column(t, TEXT_NUMBER, "% of cycles");
    text_column(t, TEXT_WRAP, "");
    unsigned shown = 0;
    for (unsigned i = 0; i < INTERACTIONS; i++) {
        double percent = percent_of(total, (double)of[i].cycles);
        if (fabs(percent) < LEAST_PERCENT)
            continue;
        shown++;
        text_cell(t, "%s and %s", component_rows[of[i].first].label, component_rows[of[i].second].label);
        text_cell(t, "%.1f", fabs(percent));
        text_cell(t, "%s", percent > 0 ? "overlap: both must go to gain" : "serial: either gains");
    }
    if (shown == 0)
        text_remark(t, "none of %.1f %% or more", LEAST_PERCENT);
    text_table_print(t, to, 1, PAGE_COLUMNS);
    fputc('\n', to);
}

/* Names of the structures in a set. */
static json_t *names_json(unsigned real)
{
    static const char *const names[] = {"l1i", "l2i", "itlb", "branch", "l1d", "l2d", "dtlb"};
    json_t *array = json_array();
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (real >> i & 1)
            json_array_append_new(array, json_string(names[i]));
    return array;
}

static json_t *interactions_json(const struct stack_interval *total)
{
    struct interaction of[INTERACTIONS];
    json_t *array = json_array();
    interactions_find(&total->graph, of);
    for (unsigned i = 0; i < INTERACTIONS; i++)
        json_array_append_new(array, json_pack("{s:[s, s], s:I, s:f}", "structures", component_rows[of[i].first].key,
                                               component_rows[of[i].second].key, "cycles", (json_int_t)of[i].cycles,
                                               "percent", percent_of(total, (double)of[i].cycles)));
    return array;
}

json_t *graph_report_json(const struct stack_interval *total, bool interactions)
{
    json_t *sets = json_array();
    for (unsigned real = 0; real <= GRAPH_EVERYTHING; real++)
        if (graph_has_set(real))
            json_array_append_new(
                sets, json_pack("{s:o, s:I}", "real", names_json(real), "cycles", (json_int_t)total->graph.with[real]));
    json_t *object = json_pack("{s:I, s:f, s:o}", "cycles", (json_int_t)total->graph.with[GRAPH_EVERYTHING],
                               "error_percent", error_percent(total), "sets", sets);
    if (interactions)
        json_object_set_new(object, "interactions", interactions_json(total));
    return object;
}
