/* What the dependence graph says besides its stack, as text and JSON. */
#ifndef CYCLESCOPE_REPORT_GRAPH_REPORT_H
#define CYCLESCOPE_REPORT_GRAPH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "stacks/stacks.h"

/* How close the graph came to the simulated cycles. */
void graph_report_print(const struct stack_interval *total, FILE *to);
/* Why another method is shown: the core has no graph, or the graph is off. */
void graph_report_print_absence(const struct core_config *core, const struct stack_interval *total, const char *method,
                                FILE *to);
void graph_report_print_interactions(const struct stack_interval *total, FILE *to);
/* The share of all cycles that the graph predicts to be saved if the structure of component c never misses, in percent.
 * A first cache that never misses spares the second cache of its side, too. */
double graph_report_gain(const struct stack_interval *total, enum component c);
/* Object with the predicted cycles, and with `interactions` if that is set. */
json_t *graph_report_json(const struct stack_interval *total, bool interactions);

#endif
