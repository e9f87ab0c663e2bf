/* cyclescope validate: every accounting method against the simulation reference. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/core_options.h"
#include "cmd/guest_options.h"
#include "cmd/guest_run.h"
#include "cmd/parallel.h"
#include "cmd/progress.h"
#include "cmd/stack_files.h"
#include "guest/files.h"
#include "report/validate_report.h"

struct validate_options {
    struct guest_options guest;
    struct core_options core;
    struct stack_files files;
    uint64_t jobs; /* at once; 0: as many as there are processors */
    bool quiet, help;
};

/* What a run leaves behind. */
struct run_slot {
    struct job job;
    struct simulation_result result;
    struct stack_interval total; /* of the first run */
    char program[4096];
    int status;
    bool loader_failed;
    struct progress progress; /* silent: for the times */
    double seconds, cpu_seconds, skip_seconds;
};

struct validation {
    struct validate_options *options;
    const struct own_output *own;
    struct run_slot *slot; /* REFERENCE_RUNS, shared */
};

/* ---- one run, in its own process */

static void note_insns(void *context, uint64_t insns)
{
    struct run_slot *slot = context;
    progress_note(&slot->progress, insns);
    slot->job.insns = insns;
}

/* Each run has its input from the start. */
static void separate_input(void)
{
    int in = open("/proc/self/fd/0", O_RDONLY);
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (in >= 0 && at >= 0 && lseek(in, at, SEEK_SET) >= 0)
        dup2(in, STDIN_FILENO);
    if (in >= 0)
        close(in);
}

/* The guest writes to files in memory in all runs, since programs do other work for a terminal than for /dev/null. */
struct kept_output {
    int out, err; /* private descriptors; -1: closed from the start, or err the same as out */
};

static int keep_in_memory(int fd, int *kept, struct error *err)
{
    int file = memfd_create("output", MFD_CLOEXEC);
    if (file >= 0)
        *kept = fcntl(file, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (file < 0 || *kept < 0 || dup2(file, fd) < 0)
        return error_set(err, -errno, "cannot keep the program's output: %s", strerror(errno));
    close(file);
    return 0;
}

static int separate_output(struct kept_output *kept, const struct own_output *own, struct error *err)
{
    struct stat out, to;
    bool has_out = fileno(own->out) >= FD_PRIVATE && fstat(fileno(own->out), &out) == 0;
    bool has_err = fileno(own->err) >= FD_PRIVATE && fstat(fileno(own->err), &to) == 0;
    bool same = has_out && has_err && out.st_dev == to.st_dev && out.st_ino == to.st_ino;
    int code = 0;
    *kept = (struct kept_output){-1, -1};
    if (has_out)
        code = keep_in_memory(STDOUT_FILENO, &kept->out, err);
    if (code == 0 && same)
        dup2(STDOUT_FILENO, STDERR_FILENO);
    else if (code == 0 && has_err)
        code = keep_in_memory(STDERR_FILENO, &kept->err, err);
    return code;
}

/* A reader that has gone needs no more. */
static int pass_on(int file, FILE *to, struct error *err)
{
    char part[65536];
    off_t at = 0;
    ssize_t n = 0, w = 0;
    while (file >= 0 && w >= 0 && (n = pread(file, part, sizeof part, at)) > 0) {
        w = write(fileno(to), part, (size_t)n);
        at += w;
    }
    if (n >= 0 && (w >= 0 || errno == EPIPE))
        return 0;
    return error_set(err, -errno, "the program's output cannot be written: %s", strerror(errno));
}

static int pass_output_on(const struct kept_output *kept, const struct own_output *own, struct error *err)
{
    signal(SIGPIPE, SIG_IGN);
    int code = pass_on(kept->out, own->out, err);
    return code == 0 ? pass_on(kept->err, own->err, err) : code;
}

static int simulate_run(struct validation *v, unsigned i, struct accounting *a, struct process *p,
                        const struct kept_output *output)
{
    struct run_slot *slot = &v->slot[i];
    struct core_config core = reference_core(&v->options->core.config, &reference_runs[i]);
    struct simulation s = v->options->core.simulation;
    s.core = &core;
    s.progress = note_insns;
    s.progress_context = slot;
    if (a) {
        s.observer = accounting_observer(a);
        s.sum = accounting_sum(a);
    }
    progress_begin(&slot->progress, v->own->err, true, 0);
    int code = simulate_process(p, &s, &slot->result, &slot->job.err);
    if (code != 0)
        return code;
    if (process_is_child(p))
        end_as_child(p);
    slot->seconds = progress_seconds(&slot->progress);
    slot->cpu_seconds = progress_cpu_seconds(&slot->progress);
    slot->skip_seconds = progress_skip_seconds(&slot->progress);
    slot->status = slot->result.cut ? 0 : process_status(p);
    slot->loader_failed = process_loader_failed(p);
    snprintf(slot->program, sizeof slot->program, "%s", process_program(p));
    if (a)
        slot->total = *accounting_total(a);
    if (i == 0)
        code = pass_output_on(output, v->own, &slot->job.err);
    if (i == 0 && !v->options->quiet) {
        tell_death(v->own, p);
        fflush(v->own->err);
    }
    return code;
}

static void work(void *context, unsigned i)
{
    struct validation *v = context;
    struct run_slot *slot = &v->slot[i];
    struct accounting *a = NULL;
    unsigned methods = 0;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        methods |= (unsigned)!stack_rows[k].view << k;
    struct kept_output output;
    separate_input();
    if (separate_output(&output, v->own, &slot->job.err) != 0)
        return;
    offer_to_be_killed_first();
    struct process *p = process_new(&v->options->guest.config, &slot->job.err);
    if (p == NULL || (i == 0 && (a = accounting_new(&v->options->core.config, methods, 0, &slot->job.err)) == NULL))
        return;
    slot->job.done = simulate_run(v, i, a, p, &output) == 0;
}

static void *slot_of(void *context, unsigned i)
{
    return &((struct validation *)context)->slot[i];
}

/* ---- all of them */

/* Input that can be read only once is kept, so that each run gets it. */
static int keep_input(struct error *err)
{
    struct stat s;
    char part[65536];
    ssize_t n;
    if (fstat(STDIN_FILENO, &s) != 0 || S_ISREG(s.st_mode) || S_ISCHR(s.st_mode))
        return 0;
    int kept = memfd_create("standard input", MFD_CLOEXEC);
    if (kept < 0)
        return error_set(err, -errno, "cannot keep standard input: %s", strerror(errno));
    while ((n = read(STDIN_FILENO, part, sizeof part)) > 0)
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(kept, part + done, (size_t)(n - done))) < 0)
                return error_set(err, -errno, "cannot keep standard input: %s", strerror(errno));
    lseek(kept, 0, SEEK_SET);
    dup2(kept, STDIN_FILENO);
    close(kept);
    return n < 0 ? error_set(err, -errno, "cannot read standard input: %s", strerror(errno)) : 0;
}

static int write_report(struct validate_options *o, const struct own_output *own, const struct validate_report *r)
{
    int status = r->run.status;
    if (!o->quiet)
        validate_report_print(r, own->err);
    if (o->files.csv.to)
        validate_report_csv(r, o->files.csv.to);
    if (o->files.svg.to)
        validate_report_svg(r, o->files.svg.to);
    return stack_files_close(&o->files, own, o->files.json.to ? validate_report_json(r) : NULL, status);
}

static int report(const struct validation *v, const struct own_output *own, double seconds)
{
    const struct run_slot *first = &v->slot[0];
    if (first->job.died) {
        struct error err;
        error_set(&err, -EINTR, "the run that the methods account for failed: %.400s", first->job.err.text);
        return own_fail(own, &err);
    }
    if (!first->job.done)
        return own_fail(own, &first->job.err);
    struct validate_report r = {.run = {.version = CYCLESCOPE_VERSION,
                                        .program = first->program,
                                        .status = first->loader_failed ? STATUS_OWN_ERROR : first->status,
                                        .simulation = &v->options->core.simulation,
                                        .result = first->result,
                                        .seconds = first->seconds,
                                        .cpu_seconds = first->cpu_seconds,
                                        .skip_seconds = first->skip_seconds},
                                .total = &first->total,
                                .seconds = seconds};
    for (unsigned i = 0; i < REFERENCE_RUNS; i++) {
        const struct run_slot *s = &v->slot[i];
        r.runs[i] = (struct validate_run){.cycles = s->job.done ? s->result.counts.core.cycles : 0,
                                          .seconds = s->seconds,
                                          .why = s->job.done ? NULL : s->job.err.text};
    }
    return write_report(v->options, own, &r);
}

static int validate_program(struct validate_options *o, char **argv)
{
    struct own_output own;
    struct validation v = {.options = o, .own = &own};
    struct error err;
    own_output_open(&own);
    int code = core_options_finish(&o->core, &err);
    if (code == 0)
        code = guest_options_finish(&o->guest, argv, &err);
    if (code == 0)
        code = keep_input(&err);
    if (code == 0)
        code = stack_files_open(&o->files, &own, &err);
    if (code == 0 && (v.slot = shared_memory(REFERENCE_RUNS * sizeof *v.slot)) == NULL)
        code = error_set(&err, -ENOMEM, "out of memory for %d runs", REFERENCE_RUNS);
    if (code != 0)
        return own_fail(&own, &err);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = o->jobs ? o->jobs : processors > 0 ? (uint64_t)processors : 1;
    double start = now_seconds();
    run_jobs(&(struct jobs){.count = REFERENCE_RUNS,
                            .at_once = jobs < REFERENCE_RUNS ? (unsigned)jobs : REFERENCE_RUNS,
                            .slot = slot_of,
                            .work = work,
                            .context = &v,
                            .insns = o->core.simulation.max_insns,
                            .terminal = !o->quiet && isatty(fileno(own.err)) ? own.err : NULL});
    return report(&v, &own, now_seconds() - start);
}

int command_validate(int argc, char **argv)
{
    struct validate_options o = {0};
    guest_options_init(&o.guest);
    core_options_init(&o.core);
    const struct option table[] = {
        {"jobs", OPTION_COUNT, &o.jobs, "N", "runs at once (as many as there are processors)"},
        STACK_FILE_ROWS(&o.files),
        {"quiet", OPTION_FLAG, &o.quiet, NULL, "print nothing"},
        {"help", OPTION_FLAG, &o.help, NULL, "print this"},
        CORE_OPTION_ROWS(&o.core),
        GUEST_OPTION_ROWS(&o.guest),
    };
    enum { ROWS = sizeof table / sizeof table[0] };
    int first, status;
    if (command_begins(
            table, ROWS, argc, argv, &o.help,
            "usage: cyclescope validate [options] [--] PROGRAM [ARGUMENTS]\n\n"
            "Compares the CPI stacks of all accounting methods with a reference: simulations in which caches,\n"
            "TLBs and branch prediction become real one after another, in two orders. The program runs twelve\n"
            "times, as many at once as --jobs says, and should not mind that; its output is that of one run.\n\n"
            "options:",
            &first, &status))
        status = validate_program(&o, argv + first);
    core_options_free(&o.core);
    guest_options_free(&o.guest);
    return status;
}
