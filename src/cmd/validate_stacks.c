/* cyclescope validate: compares all accounting methods with the simulation reference. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/validate.h"
#include "report/validate_report.h"

struct stacks_options {
    struct validate_options common;
    const char *orders; /* as given: a name of enum reference_orders */
};

/* The results of a run, in shared memory. */
struct run_slot {
    struct program_run run;
    struct stack_interval total; /* stacks of all methods; only of run 0 */
};

struct validation {
    struct stacks_options *options;
    struct reference_plan plan;
    struct program_runs runs;
    struct core_config core;       /* core of a run; used in its process */
    struct accounting *accounting; /* accounting of run 0; used in its process */
};

/* ---- one run, in its own process */

static int prepare(void *context, unsigned i, struct simulation *s, struct error *err)
{
    struct validation *v = context;
    unsigned methods = 0;
    v->core = reference_core(&v->options->common.core.config, &v->plan.run[i]);
    s->core = &v->core;
    if (i > 0)
        return 0;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (!stack_rows[k].view && stack_check(&v->options->common.core.config, (enum stack_kind)k, err) == 0)
            methods |= 1u << k;
    v->accounting = accounting_new(&v->options->common.core.config, methods, 0, err);
    if (v->accounting == NULL)
        return -1;
    s->observer = accounting_observer(v->accounting);
    s->warmup_observer = accounting_warmup_observer(v->accounting);
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

/* ---- the command */

static int write_report(struct stacks_options *o, const struct own_output *own, const struct validate_report *r)
{
    int status = r->run.status;
    if (!o->common.quiet)
        validate_report_print(r, own_page(own), own_columns(own));
    if (o->common.files.csv.to)
        validate_report_csv(r, o->common.files.csv.to);
    if (o->common.files.svg.to)
        validate_report_svg(r, o->common.files.svg.to);
    return stack_files_close(&o->common.files, own, o->common.files.json.to ? validate_report_json(r) : NULL, status);
}

static int report(void *context, const struct own_output *own)
{
    const struct validation *v = context;
    const struct run_slot *first = program_run_slot(&v->runs, 0);
    struct error err;
    if (program_run_check(&v->runs, 0, "the run that the methods account for", &err) != 0)
        return own_fail(own, &err);
    struct validate_report r = {.run = program_run_report(&v->runs, 0, &v->options->common.core.simulation),
                                .total = &first->total,
                                .plan = &v->plan,
                                .sampled = v->runs.points != NULL,
                                .seconds = v->runs.seconds};
    for (unsigned i = 0; i < v->plan.count; i++) {
        const struct program_run *run = program_run_slot(&v->runs, i);
        r.runs[i] = (struct validate_run){.cycles = run->job.done ? run->result.counts.core.cycles : 0,
                                          .seconds = run->seconds,
                                          .sample = run->sample,
                                          .why = run->job.done ? NULL : run->job.err.text};
    }
    return write_report(v->options, own, &r);
}

static int choose_runs(struct reference_plan *plan, const char *name, struct error *err)
{
    int orders = reference_orders_find(name);
    if (orders < 0)
        return error_set(err, -EINVAL, "--orders %s: there are all, paper and inverse", name);
    reference_plan_make(plan, (enum reference_orders)orders);
    return 0;
}

static int check_options(void *context, char **argv, struct error *err)
{
    struct validation *v = context;
    struct stacks_options *o = v->options;
    int code = choose_runs(&v->plan, o->orders, err);
    v->runs.count = v->plan.count;
    if (code == 0)
        code = core_options_finish(&o->common.core, err);
    if (code == 0)
        code = validate_check_restore(&o->common, err);
    if (code == 0 && o->common.guest.restore && points_options_given(&o->common.points))
        code =
            error_set(err, -EINVAL, "--restore excludes --points and --systematic, which cover a run from its start");
    if (code == 0)
        code = points_options_finish(&o->common.points, &o->common.core.simulation, err);
    o->common.points.precision = 0; /* a second pass would measure other windows in each run */
    return code == 0 ? guest_options_finish(&o->common.guest, argv, err) : code;
}

static int compare(struct stacks_options *o, char **argv)
{
    struct validation v = {.options = o,
                           .runs = {.slot_bytes = sizeof(struct run_slot), .prepare = prepare, .finish = finish}};
    v.runs.context = &v;
    return validate_program(&o->common, &v.runs, argv, check_options, report);
}

int validate_stacks(int argc, char **argv)
{
    struct stacks_options o = {.orders = "all"};
    validate_options_init(&o.common);
    const struct option table[] = {
        {"orders", OPTION_STRING, &o.orders, "NAME",
         "reference: mean of all orders (72 runs), or only the paper or inverse order (8 runs)"},
        {"jobs", OPTION_POSITIVE, &o.common.jobs, "N", "runs at the same time (number of processors)"},
        WINDOWS_OPTION_ROWS(&o.common.points),
        STACK_FILE_ROWS(&o.common.files),
        PAGE_OPTION_ROW(&o.common.page),
        {"quiet", OPTION_FLAG, &o.common.quiet, NULL, "print nothing but errors"},
        {"h,help", OPTION_FLAG, &o.common.help, NULL, "print this help"},
        CORE_OPTION_ROWS(&o.common.core),
        RESTORE_OPTION_ROW(&o.common.guest),
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.common.help,
            "usage: cyclescope validate [options] [--] PROGRAM [ARGUMENTS]\n"
            "       cyclescope validate counters|stalls|overhead|what-if [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Compares the CPI stacks of all accounting methods with a reference: simulations in which caches,\n"
            "TLBs and branch prediction are first ideal and become real one after another. The reference is the\n"
            "mean over all orders, for which the program runs 72 times, --jobs at the same time. It must be able\n"
            "to run several times at once. Its output is that of one run.\n"
            "`validate counters`, `validate stalls` and `validate overhead` validate the sampler, `validate what-if`\n"
            "the predictions of `stack --what-if`; see their --help.\n\n"
            "options:",
            &first, &status))
        status = compare(&o, argv + first);
    validate_options_free(&o.common);
    return status;
}
