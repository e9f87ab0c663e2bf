#include "cmd/program_command.h"

void program_options_init(struct program_options *o)
{
    guest_options_init(&o->guest);
    core_options_init(&o->core);
}

void program_options_free(struct program_options *o)
{
    core_options_free(&o->core);
    guest_options_free(&o->guest);
}

void note_inputs(const struct own_output *own, const struct guest_options *g, const struct core_options *c)
{
    if (g->restore)
        own_input(own, "--restore", g->restore);
    else
        own_input_program(own, &g->config);
    own_input(own, "--core", c->core);
    own_input(own, "--firmware", c->simulation.firmware);
}

/* All steps before the program is started. */
static int prepare(struct program_options *o, char **argv, const struct program_steps *steps, void *options,
                   const struct own_output *own, struct error *err)
{
    int code = steps->check ? steps->check(options, err) : 0;
    if (code == 0 && steps->simulates)
        code = core_options_finish(&o->core, err);
    if (code == 0 && steps->configure)
        code = steps->configure(options, err);
    if (code == 0)
        code = guest_options_finish(&o->guest, argv, err);
    if (code == 0)
        note_inputs(own, &o->guest, &o->core);
    if (code == 0 && !o->quiet)
        o->guest.config.console = status_line_console(own->line);
    if (code == 0)
        code = own_page_open(own, o->page, err);
    if (code == 0 && steps->open)
        code = steps->open(options, own, err);
    return code;
}

int run_program(struct program_options *o, char **argv, const struct program_steps *steps, void *options)
{
    struct own_output own;
    struct process *p = NULL;
    struct error err;
    own_output_open(&own);
    prefer_oom_kill();
    int code = prepare(o, argv, steps, options, &own, &err);
    if (code == 0 && !steps->starts_programs && (p = guest_options_start(&o->guest, &err)) == NULL)
        code = -1;
    int status = code == 0 ? own_page_close(&own, steps->run(options, &own, p)) : own_fail(&own, &err);
    process_free(p);
    own_output_close(&own);
    return status;
}
