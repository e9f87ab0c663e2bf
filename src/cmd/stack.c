/* cyclescope stack: where the cycles go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "cmd/points_options.h"
#include "cmd/sampled_simulation.h"
#include "cmd/simulation_run.h"
#include "cmd/stack_files.h"
#include "cmd/warm_state.h"
#include "report/stack_report.h"

struct stack_options {
    struct guest_options guest;
    struct core_options core;
    const char *method, *stage;
    uint64_t interval;
    struct points_options points;
    struct stack_files files;
    bool penalties, quiet, help;
    unsigned kinds;       /* to be shown, from method and stage */
    enum stack_kind main; /* the first of them */
};

/* ---- which stacks */

/* All names that are given, with commas between them; the first one is the main one. */
static int choose_named(struct stack_options *o, const char *option, const char *names, bool views, struct error *err)
{
    char name[32];
    for (const char *at = names; at; at = strchr(at, ',')) {
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        int k = stack_find(name);
        if (k < 0 || stack_rows[k].view != views)
            return error_set(err, -EINVAL, "%s %s: there is no '%s'; `cyclescope list methods` has what there is",
                             option, names, name);
        if (o->kinds == 0)
            o->main = (enum stack_kind)k;
        o->kinds |= 1u << k;
    }
    return 0;
}

static int choose(struct stack_options *o, struct error *err)
{
    if (o->stage && o->method)
        return error_set(err, -EINVAL, "--method and --stage are different ways to look: give one of them");
    const char *names = o->stage ? o->stage : o->method ? o->method : "fmt";
    if (strcmp(names, "all") != 0)
        return choose_named(o, o->stage ? "--stage" : "--method", names, o->stage != NULL, err);
    o->main = o->stage ? STACK_dispatch : STACK_fmt;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (stack_rows[k].view == (o->stage != NULL))
            o->kinds |= 1u << k;
    return 0;
}

static int check_points(struct stack_options *o, struct error *err)
{
    if (points_options_given(&o->points) && o->interval)
        return error_set(err, -EINVAL, "--interval excludes --points and --systematic, which do not see the whole run");
    if (points_options_given(&o->points) && o->guest.restore)
        return error_set(err, -EINVAL,
                         "--restore excludes --points and --systematic, which cover a run from its start");
    return points_options_finish(&o->points, &o->core.simulation, err);
}

/* ---- running */

static int write_report(struct stack_options *o, const struct own_output *own, const struct process *p,
                        const struct stack_report *r)
{
    int status = simulation_status(p, &r->run);
    if (!o->quiet) {
        tell_death(own, p);
        stack_report_print(r, own->err, isatty(fileno(own->err)), own_columns(own));
    }
    if (o->files.csv.to)
        stack_report_csv(r, o->files.csv.to);
    if (o->files.svg.to)
        stack_report_svg(r, o->files.svg.to);
    return stack_files_close(&o->files, own, o->files.json.to ? stack_report_json(r) : NULL, status);
}

static int stack_process(struct stack_options *o, const struct own_output *own, struct process *p)
{
    struct error err;
    struct simulation *s = &o->core.simulation;
    unsigned kinds = o->kinds | (o->penalties ? 1u << STACK_fmt | 1u << STACK_power5 : 0);
    struct accounting *a = NULL;
    if (warm_state_use(o->guest.checkpoint, s, &err) == 0)
        a = accounting_new(&o->core.config, kinds, o->interval, &err);
    if (a == NULL)
        return own_fail(own, &err);
    s->observer = accounting_observer(a);
    s->sum = accounting_sum(a);
    struct stack_report report = {
        .accounting = a, .kinds = o->kinds, .main = o->main, .series = o->interval != 0, .penalties = o->penalties};
    struct sampled_run sampled = {0};
    int code = points_options_given(&o->points)
                   ? run_sampled(p, &o->points, s, own, o->quiet, &report.run, &sampled, &err)
                   : run_simulation(p, s, own, o->quiet, &report.run, &err);
    int status = code == 0 ? write_report(o, own, p, &report) : own_fail(own, &err);
    sampled_run_free(&sampled);
    accounting_free(a);
    return status;
}

static int stack_program(struct stack_options *o, char **argv)
{
    struct own_output own;
    struct process *p = NULL;
    struct error err;
    own_output_open(&own);
    offer_to_be_killed_first();
    if (choose(o, &err) == 0 && core_options_finish(&o->core, &err) == 0 && check_points(o, &err) == 0 &&
        guest_options_finish(&o->guest, argv, &err) == 0 && stack_files_open(&o->files, &own, &err) == 0)
        p = guest_options_start(&o->guest, &err);
    int status = p ? stack_process(o, &own, p) : own_fail(&own, &err);
    process_free(p);
    return status;
}

int command_stack(int argc, char **argv)
{
    struct stack_options o = {0};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    const struct option table[] = {
        {"method", OPTION_STRING, &o.method, "NAME",
         "accounting methods (fmt), with commas, or all; `list methods` has them"},
        {"stage", OPTION_STRING, &o.stage, "NAME", "instead, slots of stages: dispatch, issue, commit, or all"},
        {"interval", OPTION_COUNT, &o.interval, "N", "also a series: a stack for every N instructions"},
        {"penalties", OPTION_FLAG, &o.penalties, NULL, "also average penalties per event, and their overlap"},
        STACK_FILE_ROWS(&o.files),
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        POINTS_OPTION_ROWS(&o.points),
        CORE_OPTION_ROWS(&o.core),
        RESTORE_OPTION_ROW(&o.guest),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_begins(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope stack [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core and says where its cycles\n"
            "went, as a CPI stack whose components add up. Prints to standard error and passes the program's\n"
            "exit status through (128 + n for death by signal n, 125 for an error of Cyclescope's own, 0 when\n"
            "--max-insns ends the run).\n\noptions:",
            &first, &status))
        status = stack_program(&o, argv + first);
    core_options_free(&o.core);
    guest_options_free(&o.guest);
    return status;
}
