/* cyclescope checkpoint: a program saved at an instruction. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "emulate/emulate.h"

struct checkpoint_options {
    struct guest_options guest;
    uint64_t at;      /* instructions of the first process */
    const char *path; /* of the file */
    bool quiet, help;
};

/* Runs the process until `insns` instructions of it have retired, or it ends. Processes that it forks run to their end.
 */
static int run_until(struct process *p, uint64_t insns, struct error *err)
{
    struct engine_state *e = interpreter.create(process_memory(p), err);
    if (e == NULL)
        return -ENOMEM;
    struct thread *t;
    while ((process_is_child(p) || process_retired_insns(p) < insns) && (t = process_next(p)) != NULL) {
        struct hart *h = thread_hart(t);
        uint64_t left = insns - process_retired_insns(p);
        if (!process_is_child(p) && (uint64_t)h->quantum > left)
            h->quantum = (int64_t)left;
        interpreter.run(e, h);
        process_trap(p, t);
    }
    interpreter.destroy(e);
    return 0;
}

static int save(const struct checkpoint_options *o, struct checkpoint_file *file, const struct own_output *own,
                struct process *p)
{
    struct error err;
    if (run_until(p, o->at, &err) != 0)
        return own_fail(own, &err);
    if (process_is_child(p))
        end_as_child(p);
    if (process_loader_failed(p))
        return STATUS_OWN_ERROR;
    uint64_t done = process_retired_insns(p);
    if (done < o->at) {
        error_set(&err, -ESRCH, "the program ended after %llu instructions, before --at %llu", (unsigned long long)done,
                  (unsigned long long)o->at);
        return own_fail(own, &err);
    }
    int code = checkpoint_write(file, p, &err);
    process_abandon_children(p);
    if (code < 0)
        return own_fail(own, &err);
    if (!o->quiet)
        fprintf(own->err, "cyclescope: %s saved after %llu instructions\n", process_program(p),
                (unsigned long long)done);
    fflush(own->err);
    return 0;
}

static int check(const struct checkpoint_options *o, struct error *err)
{
    if (o->at == 0)
        return error_set(err, -EINVAL, "checkpoint needs --at N: after how many instructions the program is saved");
    if (o->path == NULL)
        return error_set(err, -EINVAL, "checkpoint needs -o FILE: where the checkpoint goes; - is standard output");
    return 0;
}

static int save_program(struct checkpoint_options *o, char **argv)
{
    struct own_output own;
    struct checkpoint_file *file = NULL;
    struct process *p = NULL;
    struct error err;
    own_output_open(&own);
    offer_to_be_killed_first();
    if (check(o, &err) == 0 && guest_options_finish(&o->guest, argv, &err) == 0)
        file = checkpoint_create(o->path, &err);
    if (file && strcmp(o->path, "-") == 0)
        dup2(STDERR_FILENO, STDOUT_FILENO); /* what the guest writes must not come between */
    if (file)
        p = guest_options_start(&o->guest, &err);
    int status = p ? save(o, file, &own, p) : own_fail(&own, &err);
    process_free(p);
    checkpoint_close(file);
    return status;
}

int command_checkpoint(int argc, char **argv)
{
    struct checkpoint_options o = {0};
    guest_options_init(&o.guest);
    const struct option table[] = {
        {"at", OPTION_COUNT, &o.at, "N", "save after N instructions"},
        {"o,output", OPTION_STRING, &o.path, "FILE", "the checkpoint; - is standard output"},
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        RESTORE_OPTION_ROW(&o.guest),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_begins(table, ROWS, argc, argv, &o.help,
                       "usage: cyclescope checkpoint --at N -o FILE [options] [--] PROGRAM [ARGUMENTS]\n\n"
                       "Runs a 64-bit RISC-V Linux program at full speed for N instructions and saves all that it is,\n"
                       "so that `run`, `stat` and `stack` can go on from there with --restore FILE. Exits with 0 when\n"
                       "the checkpoint is complete, else with 125.\n\noptions:",
                       &first, &status))
        status = save_program(&o, argv + first);
    guest_options_free(&o.guest);
    return status;
}
