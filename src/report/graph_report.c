#include "report/graph_report.h"

#include <math.h>
#include <string.h>

#include "report/run_report.h"
#include "report/text_table.h"
#include "stacks/interactions.h"

/* Interactions of fewer cycles, in percent of all, are not on the page. */
static const double LEAST_PERCENT = 0.1;

static double percent_of(const struct stack_interval *total, double cycles)
{
    return total->cycles ? 100 * cycles / (double)total->cycles : 0;
}

void graph_report_print(const struct stack_interval *total, FILE *to)
{
    char text[GROUPED_SIZE];
    double error = stack_graph_error(total);
    text_paragraph(to, "With all structures real the dependence graph takes %s cycles, %.2f %% %s than simulated.%s",
                   grouped(total->graph.with[GRAPH_EVERYTHING], text), fabs(error), error < 0 ? "fewer" : "more",
                   stack_graph_is_off(total) ? " That is too far off: do not rely on the stack of graph for this run."
                                             : "");
    fputc('\n', to);
}

void graph_report_print_absence(const struct core_config *core, const struct stack_interval *total, const char *method,
                                FILE *to)
{
    static const char prefix[] = "graph: ";
    struct error why = {""};
    double error = stack_graph_error(total);
    bool refused = graph_check(core, &why) != 0;
    bool prefixed = strncmp(why.text, prefix, strlen(prefix)) == 0;
    if (refused)
        text_paragraph(to, "The method is %s: %s.", method, why.text + (prefixed ? strlen(prefix) : 0));
    else
        text_paragraph(to,
                       "The method is %s: the dependence graph takes %.2f %% %s cycles than simulated, too far off.",
                       method, fabs(error), error < 0 ? "fewer" : "more");
}

double graph_report_gain(const struct stack_interval *total, enum component c)
{
    unsigned all = 0, perfect = 1u << c;
    for (unsigned i = 0; i < COMPONENTS; i++)
        all |= i != COMPONENT_base && i != COMPONENT_fu ? 1u << i : 0;
    if (c == COMPONENT_l1i || c == COMPONENT_l1d)
        perfect |= c == COMPONENT_l1i ? 1u << COMPONENT_l2i : 1u << COMPONENT_l2d;
    double real = (double)stack_graph_cycles(total, all);
    return real > 0 ? 100 - 100 * (double)stack_graph_cycles(total, all & ~perfect) / real : 0;
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
                               "error_percent", stack_graph_error(total), "sets", sets);
    if (interactions)
        json_object_set_new(object, "interactions", interactions_json(total));
    return object;
}
