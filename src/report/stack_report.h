/* CPI stacks as text, JSON, CSV and charts. */
#ifndef CYCLESCOPE_REPORT_STACK_REPORT_H
#define CYCLESCOPE_REPORT_STACK_REPORT_H

#include "report/run_report.h"
#include "stacks/stacks.h"

struct stack_report {
    struct run_report run;
    const struct accounting *accounting;
    unsigned kinds;       /* that are shown, one bit each */
    enum stack_kind main; /* of these, the one whose advice is given */
    bool series;          /* intervals were asked for */
    bool penalties;       /* average ones are to be shown */
};

void stack_report_print(const struct stack_report *r, FILE *to, bool colour, unsigned columns);
json_t *stack_report_json(const struct stack_report *r); /* NULL if a name is not UTF-8 */
void stack_report_csv(const struct stack_report *r, FILE *to);
void stack_report_svg(const struct stack_report *r, FILE *to);

/* Average penalties per event, by its name. `fmt` and `power5` have been accounted for. */
json_t *penalties_json(const struct run_report *r, const struct stack_interval *total);

#endif
