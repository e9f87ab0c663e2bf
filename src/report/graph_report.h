/* What the dependence graph says besides its stack, as text and JSON. */
#ifndef CYCLESCOPE_REPORT_GRAPH_REPORT_H
#define CYCLESCOPE_REPORT_GRAPH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "stacks/stacks.h"

/* How close the graph came to the simulated cycles. */
void graph_report_print(const struct stack_interval *total, FILE *to);
void graph_report_print_interactions(const struct stack_interval *total, FILE *to);
/* Object with the predicted cycles, and with `interactions` if that is set. */
json_t *graph_report_json(const struct stack_interval *total, bool interactions);

#endif
