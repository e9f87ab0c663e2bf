/* cyclescope checkpoint: runs a program and saves it after a given number of instructions, once or several times. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clean_text.h"
#include "cmd/program_command.h"
#include "cmd/progress.h"
#include "sim/warm_state.h"
#include "sim/warm.h"
#include "emulate/engine.h"
#include "phases/points.h"

enum { POINTS_MOST = 500 }; /* each point has an open file from the start */

struct goal {
    uint64_t at; /* retired instructions of the first process, after which to save */
    struct checkpoint_file *file;
};

struct checkpoint_options {
    struct program_options common; /* its core is used only with --warm */
    const char *at;                /* text of --at: numbers with commas; or NULL */
    const char *points;            /* SimPoint's file of points, instead of `at`; or NULL */
    uint64_t interval;             /* instructions of an interval in that file */
    const char *path;              /* name of the output file; contains %d if there are several points */
    struct goal *goals;            /* in ascending order */
    size_t count;                  /* number of goals */
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
            code = error_set(err, -EINVAL, "--at takes at most %d numbers", POINTS_MOST);
        else if (parse_count(text, &at) != 0 || at == 0)
            code = error_set(err, -EINVAL, "--at %s: '%s' is not a number of instructions", o->at, text);
        else
            o->goals[o->count++].at = at;
    }
    free(copy);
    return code;
}

/* Saves at the beginning of each interval that the file lists. */
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

/* Creates the file of one point. %d in the name becomes the number of instructions. */
static int make_file(const struct checkpoint_options *o, const struct own_output *own, struct goal *point,
                     struct error *err)
{
    const char *mark = strstr(o->path, "%d");
    char *name = NULL;
    if (mark == NULL)
        name = strdup(o->path);
    else if (asprintf(&name, "%.*s%" PRIu64 "%s", (int)(mark - o->path), o->path, point->at, mark + 2) < 0)
        name = NULL;
    if (name == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    if (own_file_check(own, "--output", name, err) == 0)
        point->file = checkpoint_create(name, err);
    free(name);
    return point->file ? 0 : -EIO;
}

static int make_files(struct checkpoint_options *o, const struct own_output *own, struct error *err)
{
    if (o->count > 1 && strstr(o->path, "%d") == NULL)
        return error_set(err, -EINVAL,
                         "several points need -o with %%d in the name, for the number of instructions: x.%%d.ckpt");
    for (size_t i = 0; i < o->count; i++)
        if (make_file(o, own, &o->goals[i], err) != 0)
            return -EIO;
    return 0;
}

static int check(void *options, struct error *err)
{
    struct checkpoint_options *o = options;
    struct simulation *s = &o->common.core.simulation;
    if ((o->at == NULL) == (o->points == NULL))
        return error_set(err, -EINVAL,
                         o->at ? "--at and --points exclude each other"
                               : "checkpoint needs --at N, the number of instructions after which to save the program");
    if (o->path == NULL)
        return error_set(err, -EINVAL, "checkpoint needs -o FILE, the file to write; - is standard output");
    if (!s->warm && (o->common.core.core || o->common.core.set.count))
        return error_set(err, -EINVAL, "--core and --set need --warm: without it there is no core");
    s->skip_insns = s->warm; /* satisfies core_options_finish, which accepts --warm only with --skip */
    int code = s->warm ? core_options_finish(&o->common.core, err) : 0;
    return code == 0 ? read_goals(o, err) : code;
}

/* ---- running */

struct run {
    struct process *process;
    struct engine_state *engine;
    struct warmer warmer; /* its core is NULL without --warm */
    struct progress progress;
};

/* Runs the process until it has retired `insns` instructions, or ends. In a process that it forks, runs to the end. */
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
        if (!process_is_child(p))
            progress_run(&r->progress, process_retired_insns(p), insns);
    }
}

/* Stores the warm state of the core as it is after everything in flight has completed. Then restores the core and the
 * warmer to where they were, so that later points do not depend on earlier ones. */
static int take_warm(const struct checkpoint_options *o, struct warmer *w, struct checkpoint_warm *to,
                     struct error *err)
{
    struct warmer before = *w;
    struct checkpoint_warm unsettled = {0};
    int code = warm_state_take(&unsettled, w->core, &o->common.core.config, err);
    if (code == 0) {
        warm_settle(w);
        code = warm_state_take(to, w->core, &o->common.core.config, err);
        if (!core_get_warm(w->core, unsettled.state, unsettled.length))
            code = error_set(err, -EINVAL, "internal error: the core rejects its own warm state");
        *w = before;
    }
    warm_state_free(&unsettled);
    return code;
}

static int save_point(const struct checkpoint_options *o, struct run *r, struct goal *point, struct error *err)
{
    struct checkpoint_warm warm = {0};
    uint64_t done = process_retired_insns(r->process);
    if (done < point->at && process_interruption(r->process))
        return error_set(err, -EINTR,
                         "interrupted after %" PRIu64 " instructions, before %" PRIu64 ": nothing is saved", done,
                         point->at);
    if (done < point->at)
        return error_set(err, -ESRCH, "the program ended after %" PRIu64 " instructions, before %" PRIu64, done,
                         point->at);
    int code = r->warmer.core ? take_warm(o, &r->warmer, &warm, err) : 0;
    if (code == 0)
        code = checkpoint_write(point->file, r->process, r->warmer.core ? &warm : NULL, err);
    warm_state_free(&warm);
    return code;
}

static void print_saved(const char *program, uint64_t insns, FILE *to)
{
    fputs("cyclescope: ", to);
    clean_print(program, to);
    fprintf(to, " saved after %" PRIu64 " instructions\n", insns);
}

/* Runs to each point and saves it. Returns 0, a negative code, or 1 if the loader of the program failed and has printed
 * an error itself. */
static int save_points(const struct checkpoint_options *o, struct run *r, const struct own_output *own,
                       struct error *err)
{
    for (size_t i = 0; i < o->count; i++) {
        run_until(r, o->goals[i].at);
        if (process_is_child(r->process))
            end_as_child(r->process);
        progress_end(&r->progress);
        if (process_loader_failed(r->process))
            return 1;
        int code = save_point(o, r, &o->goals[i], err);
        if (code < 0)
            return code;
        if (!o->common.quiet)
            print_saved(process_program(r->process), o->goals[i].at, own->err);
        fflush(own->err);
    }
    return 0;
}

/* Creates the core to keep warm. It starts from the warm state of the --restore checkpoint, if that has one. */
static int make_core(const struct checkpoint_options *o, struct run *r, struct error *err)
{
    struct simulation s = o->common.core.simulation;
    if (!s.warm)
        return 0;
    if (warm_state_use(o->common.guest.checkpoint, &s, err) != 0)
        return -EINVAL;
    r->warmer.core = core_new(s.core, process_memory(r->process), err);
    if (r->warmer.core == NULL)
        return -ENOMEM;
    if (s.state && !core_get_warm(r->warmer.core, s.state, s.state_bytes))
        return error_set(err, -EINVAL, "the warm state of the checkpoint does not fit this core");
    return 0;
}

static int open_files(void *options, const struct own_output *own, struct error *err)
{
    struct checkpoint_options *o = options;
    own_input(own, "--points", o->points);
    int code = make_files(o, own, err);
    if (code == 0 && strcmp(o->path, "-") == 0)
        dup2(STDERR_FILENO, STDOUT_FILENO); /* keeps the guest's output out of the checkpoint */
    return code;
}

static int save_process(void *options, const struct own_output *own, struct process *p)
{
    const struct checkpoint_options *o = options;
    struct error err;
    struct run r = {.process = p};
    progress_begin(&r.progress, o->common.quiet ? NULL : own->line, 0, 0);
    int code = make_core(o, &r, &err);
    if (code == 0)
        r.engine = interpreter.create(process_memory(p), &err); /* watches writes to code from now on */
    if (r.engine && r.warmer.core)
        warm_begin(&r.warmer, &interpreter, r.engine);
    code = r.engine ? save_points(o, &r, own, &err) : -ENOMEM;
    process_abandon_children(p);
    if (r.engine)
        interpreter.destroy(r.engine);
    core_free(r.warmer.core);
    return code < 0   ? own_fail_interrupted(own, code == -EINTR ? process_interruption(p) : 0, &err)
           : code > 0 ? STATUS_OWN_ERROR
                      : 0;
}

int command_checkpoint(int argc, char **argv)
{
    struct checkpoint_options o = {.interval = 10000000};
    program_options_init(&o.common);
    const struct option table[] = {
        {"at", OPTION_STRING, &o.at, "N[,N...]", "save after N instructions; several N make several checkpoints"},
        {"points", OPTION_STRING, &o.points, "FILE", "save at the points of a SimPoint `simpoints` file instead"},
        {"interval", OPTION_POSITIVE, &o.interval, "N", "with --points: instructions of an interval (10M)"},
        {"o,output", OPTION_STRING, &o.path, "FILE", "file to write; - is standard output; %d becomes N"},
        {"warm", OPTION_FLAG, &o.common.core.simulation.warm, NULL,
         "also warm caches and predictors of a core and save them"},
        {"core", OPTION_STRING, &o.common.core.core, "NAME|FILE", "with --warm: core to warm (eyerman2006)"},
        {"set", OPTION_LIST, &o.common.core.set, "KEY=VALUE", "with --warm: set a parameter of the core"},
        PROGRAM_OPTION_ROWS(&o.common),
        RESTORE_OPTION_ROW(&o.common.guest),
        GUEST_OPTION_ROWS(&o.common.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    static const struct program_steps steps = {.check = check, .open = open_files, .run = save_process};
    int first, status;
    if (command_parse(table, ROWS, argc, argv, &o.common.help,
                      "usage: cyclescope checkpoint --at N -o FILE [options] [--] PROGRAM [ARGUMENTS]\n\n"
                      "Runs a 64-bit RISC-V Linux program at full speed for N instructions and saves its whole state.\n"
                      "`run`, `stat`, `stack` and `validate` continue from there with --restore FILE. Exits with 0\n"
                      "when the checkpoint is complete, otherwise with 125.\n\noptions:",
                      &first, &status))
        status = run_program(&o.common, argv + first, &steps, &o);
    for (size_t i = 0; i < o.count; i++)
        checkpoint_close(o.goals[i].file);
    free(o.goals);
    program_options_free(&o.common);
    return status;
}
