/* cyclescope checkpoint: a program saved at an instruction, or at several on one way. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "cmd/warm_state.h"
#include "core/warm.h"
#include "emulate/emulate.h"
#include "points/points.h"

enum { POINTS_MOST = 500 }; /* each has a descriptor from the start */

struct goal {
    uint64_t at; /* instructions of the first process */
    struct checkpoint_file *file;
};

struct checkpoint_options {
    struct guest_options guest;
    struct core_options core; /* with --warm */
    const char *at;           /* as given, with commas */
    const char *points;       /* or a file of SimPoint's, ... */
    uint64_t interval;        /* ... whose intervals have so many instructions */
    const char *path;         /* of the file; of several, with %d */
    bool quiet, help;
    struct goal *goals; /* in ascending order */
    size_t count;
};

/* ---- points and their files */

static int compare(const void *left, const void *right)
{
    const struct goal *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

static int read_points(struct checkpoint_options *o, struct error *err)
{
    char *copy = strdup(o->at), *rest = copy;
    int code = 0;
    if (!copy)
        code = error_set(err, -ENOMEM, "out of memory");
    while (code == 0 && rest) {
        const char *text = strsep(&rest, ",");
        uint64_t at = 0;
        if (o->count == POINTS_MOST)
            code = error_set(err, -EINVAL, "--at takes %d points at most", POINTS_MOST);
        else if (parse_count(text, &at) != 0 || at == 0)
            code = error_set(err, -EINVAL, "--at %s: '%s' is no number of instructions", o->at, text);
        else
            o->goals[o->count++].at = at;
    }
    free(copy);
    return code;
}

/* The beginnings of the intervals that the file names. */
static int read_simpoints(struct checkpoint_options *o, struct error *err)
{
    struct points points;
    int code = points_read(&points, o->points, NULL, o->interval, err);
    if (code != 0)
        return code;
    if (points.count > POINTS_MOST)
        code = error_set(err, -EINVAL, "%s has more than %d points", o->points, POINTS_MOST);
    for (size_t i = 0; code == 0 && i < points.count; i++)
        o->goals[o->count++].at = points.point[i].window.start;
    points_free(&points);
    return code;
}

static int read_goals(struct checkpoint_options *o, struct error *err)
{
    o->goals = calloc(POINTS_MOST, sizeof *o->goals);
    if (!o->goals)
        return error_set(err, -ENOMEM, "out of memory");
    int code = o->at ? read_points(o, err) : read_simpoints(o, err);
    if (code != 0)
        return code;
    qsort(o->goals, o->count, sizeof *o->goals, compare);
    for (size_t i = 1; i < o->count; i++)
        if (o->goals[i].at == o->goals[i - 1].at)
            return error_set(err, -EINVAL, "--at has %" PRIu64 " twice", o->goals[i].at);
    return 0;
}

/* With %d for the number of instructions. */
static int make_file(const struct checkpoint_options *o, struct goal *point, struct error *err)
{
    const char *mark = strstr(o->path, "%d");
    char *name = NULL;
    if (mark == NULL)
        name = strdup(o->path);
    else if (asprintf(&name, "%.*s%" PRIu64 "%s", (int)(mark - o->path), o->path, point->at, mark + 2) < 0)
        name = NULL;
    if (name == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    point->file = checkpoint_create(name, err);
    free(name);
    return point->file ? 0 : -EIO;
}

static int make_files(struct checkpoint_options *o, struct error *err)
{
    if (o->count > 1 && strstr(o->path, "%d") == NULL)
        return error_set(err, -EINVAL,
                         "several points need -o with %%d, which is the number of instructions: x.%%d.ckpt");
    for (size_t i = 0; i < o->count; i++)
        if (make_file(o, &o->goals[i], err) != 0)
            return -EIO;
    return 0;
}

static int check(struct checkpoint_options *o, struct error *err)
{
    struct simulation *s = &o->core.simulation;
    if ((o->at == NULL) == (o->points == NULL))
        return error_set(err, -EINVAL,
                         o->at ? "--at and --points exclude each other"
                               : "checkpoint needs --at N: after how many instructions the program is saved");
    if (o->path == NULL)
        return error_set(err, -EINVAL, "checkpoint needs -o FILE: where the checkpoint goes; - is standard output");
    if (!s->warm && (o->core.core || o->core.set.count))
        return error_set(err, -EINVAL, "--core and --set need --warm: only then there is a core");
    s->skip_insns = s->warm; /* all that is run is skipped */
    int code = s->warm ? core_options_finish(&o->core, err) : 0;
    return code == 0 ? read_goals(o, err) : code;
}

/* ---- running */

struct run {
    struct process *process;
    struct engine_state *engine;
    struct warmer warmer; /* with a core, if it is to be kept warm */
};

/* Runs the process until `insns` instructions of it have retired, or it ends. Processes that it forks run to their end.
 */
static void run_until(struct run *r, uint64_t insns)
{
    struct process *p = r->process;
    struct thread *t;
    while ((process_is_child(p) || process_retired_insns(p) < insns) && (t = process_next(p)) != NULL) {
        struct hart *h = thread_hart(t);
        uint64_t left = insns - process_retired_insns(p);
        if (!process_is_child(p) && (uint64_t)h->quantum > left)
            h->quantum = (int64_t)left;
        interpreter.run(r->engine, h);
        process_trap(p, t);
    }
}

/* As it is once all that is in flight has retired; warming itself goes on as if nobody had asked. */
static int take_warm(const struct checkpoint_options *o, struct warmer *w, struct checkpoint_warm *to,
                     struct error *err)
{
    struct warmer before = *w;
    struct checkpoint_warm unsettled = {0};
    int code = warm_state_take(&unsettled, w->core, &o->core.config, err);
    if (code == 0) {
        warm_settle(w);
        code = warm_state_take(to, w->core, &o->core.config, err);
        if (!core_get_warm(w->core, unsettled.state, unsettled.length))
            code = error_set(err, -EINVAL, "the core does not take back its own state");
        *w = before;
    }
    warm_state_free(&unsettled);
    return code;
}

static int save_point(const struct checkpoint_options *o, struct run *r, struct goal *point, struct error *err)
{
    struct checkpoint_warm warm = {0};
    uint64_t done = process_retired_insns(r->process);
    if (done < point->at)
        return error_set(err, -ESRCH, "the program ended after %" PRIu64 " instructions, before %" PRIu64, done,
                         point->at);
    int code = r->warmer.core ? take_warm(o, &r->warmer, &warm, err) : 0;
    if (code == 0)
        code = checkpoint_write(point->file, r->process, r->warmer.core ? &warm : NULL, err);
    warm_state_free(&warm);
    return code;
}

static int save_points(const struct checkpoint_options *o, struct run *r, const struct own_output *own,
                       struct error *err)
{
    for (size_t i = 0; i < o->count; i++) {
        run_until(r, o->goals[i].at);
        if (process_is_child(r->process))
            end_as_child(r->process);
        if (process_loader_failed(r->process))
            return 1;
        int code = save_point(o, r, &o->goals[i], err);
        if (code < 0)
            return code;
        if (!o->quiet)
            fprintf(own->err, "cyclescope: %s saved after %" PRIu64 " instructions\n", process_program(r->process),
                    o->goals[i].at);
        fflush(own->err);
    }
    return 0;
}

/* The core that is kept warm, which goes on with what the checkpoint has of it that the program comes from. */
static int make_core(const struct checkpoint_options *o, struct run *r, struct error *err)
{
    struct simulation s = o->core.simulation;
    if (!s.warm)
        return 0;
    if (warm_state_use(o->guest.checkpoint, &s, err) != 0)
        return -EINVAL;
    r->warmer.core = core_new(s.core, process_memory(r->process), err);
    if (r->warmer.core == NULL)
        return -ENOMEM;
    if (s.state && !core_get_warm(r->warmer.core, s.state, s.state_bytes))
        return error_set(err, -EINVAL, "the warm state is not of this core");
    return 0;
}

static int save(const struct checkpoint_options *o, const struct own_output *own, struct process *p)
{
    struct error err;
    struct run r = {.process = p};
    int code = make_core(o, &r, &err);
    if (code == 0)
        r.engine = interpreter.create(process_memory(p), &err); /* it watches code from now on */
    if (r.engine && r.warmer.core)
        warm_begin(&r.warmer, &interpreter, r.engine);
    code = r.engine ? save_points(o, &r, own, &err) : -ENOMEM;
    process_abandon_children(p);
    if (r.engine)
        interpreter.destroy(r.engine);
    core_free(r.warmer.core);
    return code < 0 ? own_fail(own, &err) : code > 0 ? STATUS_OWN_ERROR : 0;
}

static int save_program(struct checkpoint_options *o, char **argv)
{
    struct own_output own;
    struct process *p = NULL;
    struct error err;
    own_output_open(&own);
    offer_to_be_killed_first();
    int code = check(o, &err);
    if (code == 0)
        code = guest_options_finish(&o->guest, argv, &err);
    if (code == 0)
        code = make_files(o, &err);
    if (code == 0 && strcmp(o->path, "-") == 0)
        dup2(STDERR_FILENO, STDOUT_FILENO); /* what the guest writes must not come between */
    if (code == 0)
        p = guest_options_start(&o->guest, &err);
    int status = p ? save(o, &own, p) : own_fail(&own, &err);
    process_free(p);
    for (size_t i = 0; i < o->count; i++)
        checkpoint_close(o->goals[i].file);
    free(o->goals);
    return status;
}

int command_checkpoint(int argc, char **argv)
{
    struct checkpoint_options o = {.interval = 10000000};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    const struct option table[] = {
        {"at", OPTION_STRING, &o.at, "N[,N...]", "save after N instructions, and after more"},
        {"points", OPTION_STRING, &o.points, "FILE", "save at these points instead, SimPoint's `simpoints`"},
        {"interval", OPTION_COUNT, &o.interval, "N", "instructions of their intervals (10M)"},
        {"o,output", OPTION_STRING, &o.path, "FILE", "the checkpoint; - is standard output; %d is N"},
        {"warm", OPTION_FLAG, &o.core.simulation.warm, NULL, "also save caches and predictors, which see all of it"},
        {"core", OPTION_STRING, &o.core.core, "NAME|FILE", "with --warm: whose they are (eyerman2006)"},
        {"set", OPTION_LIST, &o.core.set, "KEY=VALUE", "with --warm: change a parameter of the core"},
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
                       "so that `run`, `stat`, `stack` and `validate` can go on from there with --restore FILE. Exits\n"
                       "with 0 when the checkpoint is complete, else with 125.\n\noptions:",
                       &first, &status))
        status = save_program(&o, argv + first);
    guest_options_free(&o.guest);
    core_options_free(&o.core);
    return status;
}
