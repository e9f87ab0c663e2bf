/* What the reports of all simulated runs have in common: the program, the core, the result and the host time. */
#ifndef CYCLESCOPE_REPORT_RUN_REPORT_H
#define CYCLESCOPE_REPORT_RUN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "sim/simulate.h"

struct sampled_run;

struct run_report {
    const char *version; /* of Cyclescope */
    const char *program;
    const char *arguments;     /* of the program, from its name on, each with a terminating zero; NULL: not known */
    size_t argument_bytes;     /* of all arguments */
    int status;                /* exit status of the program */
    int interrupted;           /* signal from outside that ended the run early (process_interruption); 0: none */
    unsigned number, programs; /* index, and number of programs that share the core; both 0 for a single program */
    const struct simulation *simulation;
    struct simulation_result result;
    double seconds;                    /* host wall time of the measured part */
    double cpu_seconds;                /* host CPU time of the measured part */
    double skip_seconds;               /* host wall time before the measured part */
    const struct sampled_run *sampled; /* windows from which counts are estimated; NULL: the whole run was simulated */
    bool whole;                        /* a sample was asked for, but the run is so short that it was simulated whole */
};

double run_report_cpi(const struct run_report *r); /* 0 without instructions */
double run_report_mips(const struct run_report *r);

void run_report_print_name(const struct run_report *r, FILE *to); /* "PROGRAM on the core CORE" */
/* The first line of a page: program and core. */
void run_report_print_begin(const struct run_report *r, FILE *to);
/* The same, and a line with instructions, cycles and CPI, without its line break. */
void run_report_print_cpi(const struct run_report *r, FILE *to);
/* A line that says that the run was interrupted, if it was. run_report_print_end has it. */
void run_report_print_interruption(const struct run_report *r, FILE *to);
/* The last lines of a page: what was skipped or cut short, and the host time. */
void run_report_print_end(const struct run_report *r, FILE *to);
/* A document with the keys that all commands have, owned by the caller. NULL: out of memory. */
json_t *run_report_json(const struct run_report *r, const char *command);

/* Joins the documents of programs that share a core. Program 0 is returned as it is; the documents of the others, with
 * `number` from 1 on, are appended to the array `with` of `first`. Takes ownership of both documents. NULL if one is
 * NULL. */
json_t *run_report_join(json_t *first, unsigned number, json_t *program);

enum { GROUPED_SIZE = 32 };
const char *grouped(uint64_t n, char text[GROUPED_SIZE]); /* 1234567 as 1,234,567 in any locale; points into `text` */

#endif
