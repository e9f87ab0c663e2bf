/* The base of a stack split into what limits the core (stacks/base_split.h), as text and JSON. */
#ifndef CYCLESCOPE_REPORT_BASE_REPORT_H
#define CYCLESCOPE_REPORT_BASE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "stacks/stacks.h"

void base_report_print(const struct stack_interval *total, FILE *to);
/* Object with the parts by name, divided by `divisor`. */
json_t *base_report_json(const struct stack_interval *total, uint64_t divisor);

#endif
