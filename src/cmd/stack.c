/* cyclescope stack: runs a program on a simulated core and shows where its cycles go, as a CPI stack. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "cmd/points_options.h"
#include "cmd/program_command.h"
#include "cmd/sampled_simulation.h"
#include "cmd/simulation_run.h"
#include "cmd/stack_files.h"
#include "cmd/terminal.h"
#include "sim/warm_state.h"
#include "report/stack_report.h"

struct stack_options {
    struct program_options common;
    const char *method, *stage;
    uint64_t interval;
    struct points_options points;
    struct stack_files files;
    bool penalties, interactions, base;
    struct option_list what_if_texts;
    struct what_ifs what_ifs;
    bool all;             /* all methods or all stages that the core has */
    bool by_default;      /* no method and no stage was named; the core decides */
    unsigned kinds;       /* bit mask of the stacks to show, by enum stack_kind */
    enum stack_kind main; /* the first stack that was named; of `all`, the default */
};

/* ---- which stacks */

/* The method, or stage if `views`, whose name is most similar; NULL if none is. */
static const char *suggest_stack(const char *name, bool views)
{
    struct suggestion s = suggest_for(name, strlen(name), 1 + (unsigned)strlen(name) / 4);
    const char *meant = NULL;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (stack_rows[k].view == views && suggest_offer(&s, stack_rows[k].name))
            meant = stack_rows[k].name;
    return meant;
}

/* Chooses the stacks in a list of names separated by commas. `views`: they are stages, otherwise methods. */
static int choose_named(struct stack_options *o, const char *option, const char *names, bool views, struct error *err)
{
    char name[32];
    for (const char *at = names; at; at = strchr(at, ',')) {
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        int k = stack_find(name);
        const char *meant = suggest_stack(name, views);
        if ((k < 0 || stack_rows[k].view != views) && meant)
            return error_set(err, -EINVAL, "%s %s: there is no '%s'; did you mean '%s'?", option, names, name, meant);
        if (k < 0 || stack_rows[k].view != views)
            return error_set(err, -EINVAL, "%s %s: there is no '%s'; `cyclescope list methods` lists all", option,
                             names, name);
        if (o->kinds == 0)
            o->main = (enum stack_kind)k;
        o->kinds |= 1u << k;
    }
    return 0;
}

/* An option that was given and that needs the method graph; NULL if there is none. */
static const char *option_of_graph(const struct stack_options *o)
{
    return o->interactions ? "--interactions" : o->what_if_texts.count ? "--what-if" : o->base ? "--base" : NULL;
}

static int choose(void *options, struct error *err)
{
    struct stack_options *o = options;
    const char *needs_graph = option_of_graph(o);
    if (o->stage && needs_graph)
        return error_set(err, -EINVAL, "%s needs the method graph, and --stage shows no method", needs_graph);
    if (o->stage && o->method)
        return error_set(err, -EINVAL, "--method and --stage are different kinds of stacks: give one of them");
    const char *names = o->stage ? o->stage : o->method ? o->method : needs_graph ? "graph" : NULL;
    if (names == NULL) {
        o->by_default = true;
        return 0;
    }
    if (strcmp(names, "all") != 0) {
        int code = choose_named(o, o->stage ? "--stage" : "--method", names, o->stage != NULL, err);
        if (code == 0 && needs_graph && !(o->kinds >> STACK_graph & 1))
            code = error_set(err, -EINVAL, "%s needs the method graph: add it to --method %s", needs_graph, names);
        return code;
    }
    o->main = STACK_dispatch;
    o->all = true;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (stack_rows[k].view == (o->stage != NULL))
            o->kinds |= 1u << k;
    return 0;
}

/* A stack that was named has to fit the core; of `all`, those are shown that do. */
static int check_kinds(struct stack_options *o, struct error *err)
{
    if (o->by_default || (o->all && o->stage == NULL))
        o->main = stack_default(&o->common.core.config);
    if (o->by_default)
        o->kinds = 1u << o->main;
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        int code = o->kinds >> k & 1 ? stack_check(&o->common.core.config, (enum stack_kind)k, err) : 0;
        if (code != 0 && (!o->all || (k == STACK_graph && option_of_graph(o))))
            return code;
        if (code != 0)
            o->kinds &= ~(1u << k);
    }
    return 0;
}

static int check_points(void *options, struct error *err)
{
    struct stack_options *o = options;
    if (points_options_given(&o->points) && o->interval)
        return error_set(err, -EINVAL,
                         "--interval excludes --points and --systematic, which simulate only parts of the run");
    if (points_options_given(&o->points) && o->common.guest.restore)
        return error_set(err, -EINVAL,
                         "--restore excludes --points and --systematic, which cover a run from its start");
    int code = check_kinds(o, err);
    for (size_t i = 0; code == 0 && i < o->what_if_texts.count; i++)
        code = what_ifs_add(&o->what_ifs, &o->common.core.config, o->what_if_texts.value[i], err);
    return code == 0 ? points_options_finish(&o->points, &o->common.core.simulation, err) : code;
}

/* ---- running */

static int open_files(void *options, const struct own_output *own, struct error *err)
{
    struct stack_options *o = options;
    int code = points_options_names(&o->points, own, err);
    return code == 0 ? stack_files_open(&o->files, own, err) : code;
}

/* Shows fmt2 instead of a graph that was not asked for and is off. */
static void replace_graph(struct stack_report *r)
{
    if (!r->by_default || r->main != STACK_graph || !stack_graph_is_off(accounting_total(r->accounting)))
        return;
    r->main = STACK_fmt2;
    r->kinds = 1u << STACK_fmt2;
}

static int write_report(struct stack_options *o, const struct own_output *own, const struct process *p,
                        const struct stack_report *r)
{
    int status = simulation_status(p, &r->run);
    if (!o->common.quiet) {
        report_death(own, p);
        stack_report_print(r, own_page(own), terminal_shows_colors(own_page(own)), own_columns(own));
    }
    if (o->files.csv.to)
        stack_report_csv(r, o->files.csv.to);
    if (o->files.svg.to)
        stack_report_svg(r, o->files.svg.to);
    return stack_files_close(&o->files, own, o->files.json.to ? stack_report_json(r) : NULL, status);
}

static int stack_process(void *options, const struct own_output *own, struct process *p)
{
    struct stack_options *o = options;
    struct error err;
    struct simulation *s = &o->common.core.simulation;
    bool judges = o->by_default || o->kinds >> STACK_fmt & 1; /* fmt2 stands in for a graph, or says if fmt is right */
    unsigned spare = judges ? 1u << STACK_fmt2 : 0;
    unsigned kinds = o->kinds | spare | (o->penalties ? 1u << STACK_fmt | 1u << STACK_power5 : 0);
    struct accounting *a = NULL;
    if (warm_state_use(o->common.guest.checkpoint, s, &err) == 0)
        a = accounting_new(&o->common.core.config, kinds, o->interval, &err);
    bool failed = a == NULL || accounting_add_what_ifs(a, &o->what_ifs, &err) != 0;
    if (failed || (o->base && accounting_split_base(a, &err) != 0)) {
        accounting_free(a);
        return own_fail(own, &err);
    }
    s->observer = accounting_observer(a);
    s->warmup_observer = accounting_warmup_observer(a);
    s->sum = accounting_sum(a);
    struct stack_report report = {.accounting = a,
                                  .kinds = o->kinds,
                                  .main = o->main,
                                  .by_default = o->by_default,
                                  .series = o->interval != 0,
                                  .penalties = o->penalties,
                                  .interactions = o->interactions,
                                  .what_ifs = &o->what_ifs,
                                  .base = o->base};
    struct sampled_run sampled = {0};
    int code = points_options_given(&o->points)
                   ? run_sampled(p, &o->points, s, own, o->common.quiet, &report.run, &sampled, &err)
                   : run_simulation(p, s, own, o->common.quiet, &report.run, &err);
    if (code == 0)
        replace_graph(&report);
    int status = code == 0 ? write_report(o, own, p, &report)
                           : own_fail_interrupted(own, code == -EINTR ? process_interruption(p) : 0, &err);
    sampled_run_free(&sampled);
    accounting_free(a);
    return status;
}

int command_stack(int argc, char **argv)
{
    struct stack_options o = {0};
    program_options_init(&o.common);
    const struct option table[] = {
        {"method", OPTION_STRING, &o.method, "NAME",
         "accounting methods, separated by commas, or all (graph; fmt2 if the core has no graph)"},
        {"stage", OPTION_STRING, &o.stage, "NAME", "instead of a method, the slots of dispatch, issue, commit, or all"},
        {"interval", OPTION_POSITIVE, &o.interval, "N", "also show a series: a stack for every N instructions"},
        {"interactions", OPTION_FLAG, &o.interactions, NULL,
         "with graph (default then): also show which structures overlap, and which are serial"},
        {"base", OPTION_FLAG, &o.base, NULL,
         "with graph: also split the base into width, dependences, window and others (slower)"},
        {"what-if", OPTION_LIST, &o.what_if_texts, "CHANGES",
         "with graph: also predict the CPI of a changed core, such as l2.latency=10,rob.size=x2"},
        {"penalties", OPTION_FLAG, &o.penalties, NULL, "also show average penalties per event, and their overlap"},
        STACK_FILE_ROWS(&o.files),
        PAGE_OPTION_ROW(&o.common.page),
        PROGRAM_OPTION_ROWS(&o.common),
        POINTS_OPTION_ROWS(&o.points),
        CORE_OPTION_ROWS(&o.common.core),
        RESTORE_OPTION_ROW(&o.common.guest),
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    static const struct program_steps steps = {
        .check = choose, .simulates = true, .configure = check_points, .open = open_files, .run = stack_process};
    int first, status;
    if (command_parse(
            table, ROWS, argc, argv, &o.common.help,
            "usage: cyclescope stack [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core and shows where its cycles\n"
            "went, as a CPI stack whose components add up to the CPI. Prints to standard error. Exits with the\n"
            "program's exit status (128 + n: killed by signal n, 125: error of Cyclescope, 0: --max-insns ended\n"
            "the run).\n\noptions:",
            &first, &status))
        status = run_program(&o.common, argv + first, &steps, &o);
    what_ifs_free(&o.what_ifs);
    option_list_free(&o.what_if_texts);
    program_options_free(&o.common);
    return status;
}
