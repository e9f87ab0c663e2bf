/* CPI stacks as text, JSON, CSV and charts. */
#ifndef CYCLESCOPE_REPORT_STACK_REPORT_H
#define CYCLESCOPE_REPORT_STACK_REPORT_H

#include "report/run_report.h"
#include "stacks/stacks.h"

struct stack_report {
    struct run_report run;
    const struct accounting *accounting; /* with fmt2 if fmt is shown */
    unsigned kinds;                      /* methods that are shown: bit K is enum stack_kind K */
    enum stack_kind main;                /* method that the advice and the series are based on; one of `kinds` */
    bool by_default;                     /* nobody named `main` */
    bool series;                         /* show the intervals of the run */
    bool penalties;                      /* show mean penalties per event */
    bool interactions;                   /* show interactions of structures; the method graph is one of `kinds` */
    const struct what_ifs *what_ifs;     /* those of the accounting */
    bool base;                           /* show the base split; the accounting splits it */
};

void stack_report_print(const struct stack_report *r, FILE *to, bool color, unsigned columns);
json_t *stack_report_json(const struct stack_report *r); /* owned by the caller; NULL if a name is not UTF-8 */
void stack_report_csv(const struct stack_report *r, FILE *to);
void stack_report_svg(const struct stack_report *r, FILE *to);

/* Object of mean penalties by event. The run must have been accounted for with the methods `fmt` and `power5`. */
json_t *penalties_json(const struct run_report *r, const struct stack_interval *total);

#endif
