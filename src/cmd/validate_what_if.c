/* cyclescope validate what-if: compares the what-ifs of the dependence graph with simulations of the changed cores. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/validate.h"
#include "report/what_if_report.h"

/* What is compared if no what-if is given. */
static const char standard[] = "l2.latency=-50%,l2.latency=+50%,memory.latency=-50%,memory.latency=+50%,rob.size=x0.5,"
                               "rob.size=x2,width=-1,width=+1,frontend.stages=-3,frontend.stages=+3,perfect.branch=yes";

struct what_if_options {
    struct validate_options common;
    struct option_list texts; /* as given */
    struct what_ifs what_ifs;
};

/* The results of a run, in shared memory. Run 0 is that of the core as it is; run i has what-if i - 1. */
struct what_if_slot {
    struct program_run run;
    struct stack_interval total; /* only of run 0 */
};

struct validation {
    struct what_if_options *options;
    struct program_runs runs;
    struct accounting *accounting; /* of run 0; used in its process */
};

/* ---- a run, in its own process */

static int prepare(void *context, unsigned i, struct simulation *s, struct error *err)
{
    struct validation *v = context;
    const struct what_if_options *o = v->options;
    if (i > 0) {
        s->core = &o->what_ifs.of[i - 1].core;
        return 0;
    }
    v->accounting = accounting_new(&o->common.core.config, 1u << STACK_graph, 0, err);
    if (v->accounting == NULL)
        return -ENOMEM;
    s->observer = accounting_observer(v->accounting);
    s->warmup_observer = accounting_warmup_observer(v->accounting);
    s->sum = accounting_sum(v->accounting);
    return accounting_add_what_ifs(v->accounting, &o->what_ifs, err);
}

static int finish(void *context, unsigned i, struct error *err)
{
    struct validation *v = context;
    (void)err;
    if (i == 0)
        ((struct what_if_slot *)program_run_slot(&v->runs, i))->total = *accounting_total(v->accounting);
    return 0;
}

/* ---- the command */

static int write_report(struct validation *v, const struct own_output *own, struct what_if_run *runs)
{
    struct validate_options *o = &v->options->common;
    const struct what_if_slot *first = program_run_slot(&v->runs, 0);
    struct what_if_validation r = {.run = program_run_report(&v->runs, 0, &o->core.simulation),
                                   .total = &first->total,
                                   .what_ifs = &v->options->what_ifs,
                                   .runs = runs,
                                   .seconds = v->runs.seconds};
    for (unsigned i = 0; i < r.what_ifs->count; i++) {
        const struct program_run *run = program_run_slot(&v->runs, i + 1);
        const struct core_counts *counts = &run->result.counts.core;
        runs[i] = (struct what_if_run){.instructions = counts->instructions,
                                       .cycles = run->job.done ? counts->cycles : 0,
                                       .why = run->job.done ? NULL : run->job.err.text};
    }
    if (!o->quiet)
        what_if_validation_print(&r, own_page(own));
    if (o->files.csv.to)
        what_if_validation_csv(&r, o->files.csv.to);
    return stack_files_close(&o->files, own, o->files.json.to ? what_if_validation_json(&r) : NULL, r.run.status);
}

static int report(void *context, const struct own_output *own)
{
    struct validation *v = context;
    struct error err;
    if (program_run_check(&v->runs, 0, "the run that the graph predicts from", &err) != 0)
        return own_fail(own, &err);
    struct what_if_run *runs = calloc(v->options->what_ifs.count, sizeof *runs);
    if (runs == NULL) {
        error_set(&err, -ENOMEM, "out of memory for the report");
        return own_fail(own, &err);
    }
    int status = write_report(v, own, runs);
    free(runs);
    return status;
}

static int check_options(void *context, char **argv, struct error *err)
{
    struct validation *v = context;
    struct what_if_options *o = v->options;
    int code = core_options_finish(&o->common.core, err);
    if (code == 0)
        code = graph_check(&o->common.core.config, err);
    if (code == 0 && o->texts.count == 0)
        code = what_ifs_add(&o->what_ifs, &o->common.core.config, standard, err);
    for (size_t i = 0; code == 0 && i < o->texts.count; i++)
        code = what_ifs_add(&o->what_ifs, &o->common.core.config, o->texts.value[i], err);
    v->runs.count = 1 + o->what_ifs.count;
    if (code == 0)
        code = validate_check_restore(&o->common, err);
    return code == 0 ? guest_options_finish(&o->common.guest, argv, err) : code;
}

static int compare(struct what_if_options *o, char **argv)
{
    struct validation v = {.options = o,
                           .runs = {.slot_bytes = sizeof(struct what_if_slot), .prepare = prepare, .finish = finish}};
    v.runs.context = &v;
    return validate_program(&o->common, &v.runs, argv, check_options, report);
}

int validate_what_if(int argc, char **argv)
{
    struct what_if_options o = {.texts = {0}};
    validate_options_init(&o.common);
    const struct option table[] = {
        {"what-if", OPTION_LIST, &o.texts, "CHANGES", "changes of the core, as in `stack` (a standard set)"},
        RESTORE_OPTION_ROW(&o.common.guest),
        VALIDATE_OPTION_ROWS(&o.common),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.common.help,
            "usage: cyclescope validate what-if [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Predicts the CPI of changed cores by the dependence graph of one run, as `stack --what-if` does,\n"
            "and simulates each of these cores, --jobs at the same time. Shows how far predictions are off.\n\n"
            "options:",
            &first, &status))
        status = compare(&o, argv + first);
    what_ifs_free(&o.what_ifs);
    option_list_free(&o.texts);
    validate_options_free(&o.common);
    return status;
}
