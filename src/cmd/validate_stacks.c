/* cyclescope validate: every accounting method against the simulation reference. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/stack_files.h"
#include "cmd/validate.h"
#include "cmd/validate_runs.h"
#include "report/validate_report.h"

struct stacks_options {
    struct guest_options guest;
    struct core_options core;
    struct stack_files files;
    uint64_t jobs; /* at once; 0: as many as there are processors */
    bool all_orders, quiet, help;
};

/* What a run leaves behind. */
struct run_slot {
    struct program_run run;
    struct stack_interval total; /* of the first run */
};

struct validation {
    struct stacks_options *options;
    struct reference_plan plan;
    struct program_runs runs;
    struct core_config core;       /* of the run, in its process */
    struct accounting *accounting; /* of the first */
};

/* ---- one run, in its own process */

static int prepare(void *context, unsigned i, struct simulation *s, struct error *err)
{
    struct validation *v = context;
    unsigned methods = 0;
    v->core = reference_core(&v->options->core.config, &v->plan.run[i]);
    s->core = &v->core;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        methods |= (unsigned)!stack_rows[k].view << k;
    if (i > 0)
        return 0;
    v->accounting = accounting_new(&v->options->core.config, methods, 0, err);
    if (v->accounting == NULL)
        return -1;
    s->observer = accounting_observer(v->accounting);
    s->sum = accounting_sum(v->accounting);
    return 0;
}

static int finish(void *context, unsigned i, struct error *err)
{
    struct validation *v = context;
    (void)err;
    if (i == 0)
        ((struct run_slot *)program_run_slot(&v->runs, i))->total = *accounting_total(v->accounting);
    return 0;
}

/* ---- all of them */

static int write_report(struct stacks_options *o, const struct own_output *own, const struct validate_report *r)
{
    int status = r->run.status;
    if (!o->quiet)
        validate_report_print(r, own->err);
    if (o->files.csv.to)
        validate_report_csv(r, o->files.csv.to);
    if (o->files.svg.to)
        validate_report_svg(r, o->files.svg.to);
    return stack_files_close(&o->files, own, o->files.json.to ? validate_report_json(r) : NULL, status);
}

static int report(const struct validation *v, const struct own_output *own)
{
    const struct run_slot *first = program_run_slot(&v->runs, 0);
    struct error err;
    if (program_run_check(&v->runs, 0, "the run that the methods account for", &err) != 0)
        return own_fail(own, &err);
    struct validate_report r = {.run = program_run_report(&v->runs, 0, &v->options->core.simulation),
                                .total = &first->total,
                                .plan = &v->plan,
                                .seconds = v->runs.seconds};
    for (unsigned i = 0; i < v->plan.count; i++) {
        const struct program_run *run = program_run_slot(&v->runs, i);
        r.runs[i] = (struct validate_run){.cycles = run->job.done ? run->result.counts.core.cycles : 0,
                                          .seconds = run->seconds,
                                          .why = run->job.done ? NULL : run->job.err.text};
    }
    return write_report(v->options, own, &r);
}

static int validate_program(struct stacks_options *o, char **argv)
{
    struct own_output own;
    struct validation v = {.options = o};
    struct error err;
    own_output_open(&own);
    reference_plan_make(&v.plan, o->all_orders);
    int code = core_options_finish(&o->core, &err);
    if (code == 0 && o->guest.restore && strcmp(o->guest.restore, "-") == 0)
        code = error_set(&err, -EINVAL, "--restore -: every run reads the checkpoint for itself, so it must be a file");
    if (code == 0)
        code = guest_options_finish(&o->guest, argv, &err);
    v.runs = (struct program_runs){.guest = &o->guest.config,
                                   .restore = o->guest.restore,
                                   .simulation = &o->core.simulation,
                                   .own = &own,
                                   .quiet = o->quiet,
                                   .count = v.plan.count,
                                   .at_once = o->jobs,
                                   .slot_bytes = sizeof(struct run_slot),
                                   .prepare = prepare,
                                   .finish = finish,
                                   .context = &v};
    if (code == 0)
        code = program_runs_begin(&v.runs, &err);
    if (code == 0)
        code = stack_files_open(&o->files, &own, &err);
    if (code != 0)
        return own_fail(&own, &err);
    program_runs_do(&v.runs);
    return report(&v, &own);
}

int validate_stacks(int argc, char **argv)
{
    struct stacks_options o = {0};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    const struct option table[] = {
        {"all-orders", OPTION_FLAG, &o.all_orders, NULL, "all orders, their mean and their range: 72 runs"},
        {"jobs", OPTION_COUNT, &o.jobs, "N", "runs at once (as many as there are processors)"},
        STACK_FILE_ROWS(&o.files),
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        CORE_OPTION_ROWS(&o.core),
        RESTORE_OPTION_ROW(&o.guest),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_begins(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope validate [options] [--] PROGRAM [ARGUMENTS]\n"
            "       cyclescope validate counters|stalls|overhead [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Compares the CPI stacks of all accounting methods with a reference: simulations in which caches,\n"
            "TLBs and branch prediction become real one after another, in two orders. The program runs twelve\n"
            "times, with --all-orders 72 times, as many at once as --jobs says, and should not mind that; its\n"
            "output is that of one run.\n"
            "The words in the second line, with --help, tell of what else there is to validate.\n\n"
            "options:",
            &first, &status))
        status = validate_program(&o, argv + first);
    core_options_free(&o.core);
    guest_options_free(&o.guest);
    return status;
}
