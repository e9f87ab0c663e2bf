/* cyclescope validate: what is measured against what is known to be true. */
#include "cmd/validate.h"

#include <errno.h>
#include <string.h>

#include "cmd/command.h"

/* By the first argument. A program of such a name is reached by a path: ./counters. */
static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} subjects[] = {
    {"counters", validate_counters},
    {"stalls", validate_stalls},
    {"overhead", validate_overhead},
};

int command_validate(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (argc > 0 && strcmp(argv[0], subjects[i].word) == 0)
            return subjects[i].run(argc - 1, argv + 1);
    return validate_stacks(argc, argv);
}

/* ---- what those of the sampling engine share */

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
        code = error_set(err, -EINVAL, "--firmware %s: machine mode has room for one, and it is the sampling engine's",
                         o->core.simulation.firmware);
    return code == 0 ? guest_options_finish(&o->guest, argv, err) : code;
}

int validate_run(struct validate_options *o, const struct own_output *own, struct program_runs *r, struct error *err)
{
    r->guest = &o->guest.config;
    r->simulation = &o->core.simulation;
    r->own = own;
    r->quiet = o->quiet;
    r->at_once = o->jobs;
    int code = program_runs_begin(r, err);
    if (code == 0)
        code = stack_files_open(&o->files, own, err);
    if (code == 0)
        program_runs_do(r);
    return code;
}
