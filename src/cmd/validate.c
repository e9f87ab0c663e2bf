/* cyclescope validate: compares measurements with values that are known to be true. */
#include "cmd/validate.h"

#include <errno.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/program_command.h"

/* The first argument chooses the subject. A program with the name of a subject needs a path: ./counters. */
const struct command validate_subjects[] = {
    {"counters", validate_counters, NULL, NULL},
    {"stalls", validate_stalls, NULL, NULL},
    {"overhead", validate_overhead, NULL, NULL},
    {"what-if", validate_what_if, NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

int command_validate(int argc, char **argv)
{
    const struct command *subject = argc > 0 ? command_find(validate_subjects, argv[0]) : NULL;
    return subject ? subject->run(argc - 1, argv + 1) : validate_stacks(argc, argv);
}

/* ---- shared by the subjects */

void validate_options_init(struct validate_options *o)
{
    guest_options_init(&o->guest);
    core_options_init(&o->core);
}

void validate_options_free(struct validate_options *o)
{
    core_options_free(&o->core);
    guest_options_free(&o->guest);
}

int validate_options_finish(struct validate_options *o, char **argv, struct error *err)
{
    if (o->core.core == NULL)
        o->core.core = "ppc970";
    int code = core_options_finish(&o->core, err);
    if (code == 0 && o->core.simulation.firmware)
        code = error_set(err, -EINVAL, "--firmware %s: machine mode has room for one firmware, which is the sampler",
                         o->core.simulation.firmware);
    return code == 0 ? guest_options_finish(&o->guest, argv, err) : code;
}

int validate_check_restore(const struct validate_options *o, struct error *err)
{
    if (o->guest.restore && strcmp(o->guest.restore, "-") == 0)
        return error_set(err, -EINVAL,
                         "--restore -: every run reads the checkpoint for itself, so give the name of a file");
    return 0;
}

static int do_runs(struct validate_options *o, const struct own_output *own, struct program_runs *r, struct error *err)
{
    o->guest.config.console = o->quiet ? NULL : status_line_console(own->line);
    r->guest = &o->guest.config;
    r->restore = o->guest.restore;
    r->simulation = &o->core.simulation;
    r->own = own;
    r->quiet = o->quiet;
    r->at_once = o->jobs;
    r->points = points_options_given(&o->points) ? &o->points : NULL;
    note_inputs(own, &o->guest, &o->core);
    int code = points_options_names(&o->points, own, err);
    if (code == 0)
        code = stack_files_open(&o->files, own, err);
    if (code == 0)
        code = own_page_open(own, o->page, err);
    if (code == 0)
        code = program_runs_begin(r, err);
    if (code == 0)
        code = program_runs_do(r, err);
    return code;
}

int validate_program(struct validate_options *o, struct program_runs *r, char **argv,
                     int (*check_options)(void *context, char **argv, struct error *err),
                     int (*report)(void *context, const struct own_output *own))
{
    struct own_output own;
    struct error err;
    own_output_open(&own);
    int code = check_options(r->context, argv, &err);
    if (code == 0)
        code = do_runs(o, &own, r, &err);
    int status =
        code == 0 ? own_page_close(&own, report(r->context, &own)) : own_fail_interrupted(&own, r->interrupted, &err);
    own_output_close(&own);
    return status;
}
