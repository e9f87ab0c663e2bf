/* cyclescope stat: events of a program on a simulated core. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "cmd/simulation_run.h"
#include "report/pipeview.h"
#include "report/stat_report.h"

struct stat_options {
    struct guest_options guest;
    struct core_options core;
    const char *json; /* NULL, "-" or a file */
    const char *pipeview;
    uint64_t pipeview_from, pipeview_insns;
    bool quiet;
    bool help;
};

enum { PIPEVIEW_INSNS = 10000 }; /* 2 MB */
#define NOT_GIVEN UINT64_MAX

struct stat_output {
    struct own_output own;
    struct own_file json, log;
    struct pipeview *pipeview;
};

static int open_output(struct stat_output *to, struct stat_options *o, struct error *err)
{
    int code = own_file_open(&to->json, &to->own, "--json", o->json, err);
    if (code == 0)
        code = own_file_open(&to->log, &to->own, "--pipeview", o->pipeview, err);
    if (code != 0 || to->log.to == NULL)
        return code;
    uint64_t from = o->pipeview_from == NOT_GIVEN ? 0 : o->pipeview_from;
    uint64_t insns = o->pipeview_insns == NOT_GIVEN ? PIPEVIEW_INSNS : o->pipeview_insns;
    to->pipeview = pipeview_new(to->log.to, from, insns);
    if (to->pipeview == NULL)
        return error_set(err, -ENOMEM, "out of memory for the pipeline view");
    o->core.simulation.observer = pipeview_observer(to->pipeview);
    return 0;
}

static int check_options(const struct stat_options *o, struct error *err)
{
    if (o->pipeview == NULL && o->pipeview_from != NOT_GIVEN)
        return error_set(err, -EINVAL, "--pipeview-from needs --pipeview FILE: there is no view without a file");
    if (o->pipeview == NULL && o->pipeview_insns != NOT_GIVEN)
        return error_set(err, -EINVAL, "--pipeview-insns needs --pipeview FILE: there is no view without a file");
    if (o->pipeview_insns == 0)
        return error_set(err, -EINVAL, "--pipeview-insns must be at least 1");
    return 0;
}

static int stat_process(struct stat_options *o, struct stat_output *to, struct process *p)
{
    struct run_report report;
    struct error err;
    if (run_simulation(p, &o->core.simulation, &to->own, o->quiet, &report, &err) != 0)
        return own_fail(&to->own, &err);
    int status = simulation_status(p, &report);
    if (!o->quiet) {
        tell_death(&to->own, p);
        stat_report_print(&report, to->own.err);
    }
    if (to->pipeview)
        pipeview_finish(to->pipeview);
    if (own_file_close(&to->log, &err) != 0)
        status = own_fail(&to->own, &err);
    if (own_file_write_json(&to->json, to->json.to ? stat_report_json(&report) : NULL, &err) != 0)
        status = own_fail(&to->own, &err);
    fflush(to->own.err);
    return status;
}

static int stat_program(struct stat_options *o, char **argv)
{
    struct stat_output to = {0};
    struct process *p = NULL;
    struct error err;
    own_output_open(&to.own);
    offer_to_be_killed_first();
    if (check_options(o, &err) == 0 && core_options_finish(&o->core, &err) == 0 &&
        guest_options_finish(&o->guest, argv, &err) == 0 && open_output(&to, o, &err) == 0)
        p = process_new(&o->guest.config, &err);
    int status = p ? stat_process(o, &to, p) : own_fail(&to.own, &err);
    process_free(p);
    pipeview_free(to.pipeview);
    return status;
}

int command_stat(int argc, char **argv)
{
    struct stat_options o = {.pipeview_from = NOT_GIVEN, .pipeview_insns = NOT_GIVEN};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    const struct option table[] = {
        {"json", OPTION_STRING, &o.json, "FILE", "write the counts as JSON; - is standard output"},
        {"pipeview", OPTION_STRING, &o.pipeview, "FILE", "write a pipeline view for Konata; - is standard output"},
        {"pipeview-from", OPTION_COUNT, &o.pipeview_from, "N", "first instruction of the view (0)"},
        {"pipeview-insns", OPTION_COUNT, &o.pipeview_insns, "N", "instructions of the view (10000)"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        CORE_OPTION_ROWS(&o.core),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    struct error err;
    int first = options_parse(table, ROWS, argc, argv, &err), status = 0;
    if (first < 0) {
        status = command_fail("%s", err.text);
    } else if (o.help) {
        puts("usage: cyclescope stat [options] [--] PROGRAM [ARGUMENTS]\n\n"
             "Runs a 64-bit RISC-V Linux program on a simulated out-of-order core, counts what happens there, prints\n"
             "the counts to standard error and passes the program's exit status through (128 + n for death by\n"
             "signal n, 125 for an error of Cyclescope's own, 0 when --max-insns ends the run).\n\noptions:");
        options_print(table, ROWS, stdout);
    } else {
        status = stat_program(&o, argv + first);
    }
    core_options_free(&o.core);
    guest_options_free(&o.guest);
    return status;
}
