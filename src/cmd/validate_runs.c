#include "cmd/validate_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "checkpoint/checkpoint.h"
#include "cmd/command.h"
#include "cmd/sampled_simulation.h"
#include "guest/files.h"

void *program_run_slot(const struct program_runs *r, unsigned i)
{
    return (char *)r->slot + i * r->slot_bytes;
}

/* ---- one run, in its own process */

static void note_insns(void *context, uint64_t insns)
{
    struct program_run *run = context;
    progress_note(&run->progress, insns);
    run->job.insns = insns;
}

/* Opens standard input again, so that this run has a file position of its own. */
static void separate_input(void)
{
    int in = open("/proc/self/fd/0", O_RDONLY);
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (in >= 0 && at >= 0 && lseek(in, at, SEEK_SET) >= 0)
        dup2(in, STDIN_FILENO);
    if (in >= 0)
        close(in);
}

/* The guest's output, kept in memory. All runs write to such files, not to a terminal or /dev/null: programs may behave
 * differently depending on the kind of output. */
struct kept_output {
    int out, err; /* descriptors that the guest cannot use; -1: closed from the start, or `err` is the same as `out` */
};

static int keep_in_memory(int fd, int *kept, struct error *err)
{
    int file = memfd_create("output", MFD_CLOEXEC);
    if (file >= 0)
        *kept = fcntl(file, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (file < 0 || *kept < 0 || dup2(file, fd) < 0)
        return error_set(err, -errno, "cannot store the program's output: %s", strerror(errno));
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

/* Copies a file in memory to `to`; `*last` is its last byte. If the reader of `to` has closed it, that is not an error.
 */
static int pass_on(int file, FILE *to, char *last, struct error *err)
{
    char part[65536];
    uint64_t at = 0;
    ssize_t n = 0;
    int code = 0;
    while (file >= 0 && code == 0 && (n = io_pread(file, part, sizeof part, at)) > 0) {
        code = io_write(fileno(to), part, (size_t)n);
        at += (uint64_t)n;
        *last = part[n - 1];
    }
    code = n < 0 ? (int)n : code;
    return code == 0 || code == -EPIPE
               ? 0
               : error_set(err, code, "the program's output cannot be written: %s", strerror(-code));
}

static int pass_output_on(const struct kept_output *kept, const struct own_output *own, struct error *err)
{
    char last = '\0';
    signal(SIGPIPE, SIG_IGN);
    status_line_hold(own->line);
    int code = pass_on(kept->out, own->out, &last, err);
    if (code == 0)
        code = pass_on(kept->err, own->err, &last, err);
    status_line_release(own->line, last);
    return code;
}

/* Estimates the whole run from windows, one at a time, since the runs themselves go on at the same time. */
static int estimate(struct program_runs *r, struct program_run *run, struct process *p, struct simulation *s)
{
    struct points_options o = *r->points;
    struct run_report report;
    struct sampled_run sampled;
    o.jobs = 1;
    int code = run_sampled(p, &o, s, r->own, true, &report, &sampled, &run->job.err);
    if (code != 0)
        return code;
    run->result = report.result;
    run->sample = sampled_summary(&report);
    if (!report.whole)
        sampled_run_free(&sampled);
    return 0;
}

static int simulate_run(struct program_runs *r, unsigned i, struct process *p, const struct kept_output *output)
{
    struct program_run *run = program_run_slot(r, i);
    struct simulation s = *r->simulation;
    s.progress = note_insns;
    s.progress_context = run;
    int code = r->prepare(r->context, i, &s, &run->job.err);
    if (code != 0)
        return code;
    progress_begin(&run->progress, NULL, 0, 0);
    code = r->points ? estimate(r, run, p, &s) : simulate_process(p, &s, &run->result, &run->job.err);
    if (code != 0)
        return code;
    if (process_is_child(p))
        end_as_child(p);
    run->seconds = progress_seconds(&run->progress);
    run->cpu_seconds = progress_cpu_seconds(&run->progress);
    run->skip_seconds = progress_skip_seconds(&run->progress);
    run->interrupted = process_interruption(p);
    run->argument_bytes = process_copy_arguments(p, run->arguments);
    run->status = run->result.cut && run->interrupted == 0 ? 0 : process_status(p);
    run->loader_failed = process_loader_failed(p);
    snprintf(run->program, sizeof run->program, "%s", process_program(p));
    code = r->finish(r->context, i, &run->job.err);
    if (code == 0 && i == 0)
        code = pass_output_on(output, r->own, &run->job.err);
    if (i == 0 && !r->quiet) {
        status_line_hold(r->own->line);
        report_death(r->own, p);
        fflush(r->own->err);
        status_line_release(r->own->line, '\n');
    }
    return code;
}

/* Starts the process. Each run opens the checkpoint itself: a descriptor inherited by several processes has one file
 * position in all of them. */
static struct process *start(const struct program_runs *r, struct error *err)
{
    if (r->restore == NULL)
        return process_new(r->guest, err);
    struct checkpoint *c = checkpoint_open(r->restore, err);
    if (c == NULL)
        return NULL;
    *checkpoint_config(c) = *r->guest;
    return checkpoint_restore(c, err);
}

static void work(void *context, unsigned i)
{
    struct program_runs *r = context;
    struct program_run *run = program_run_slot(r, i);
    struct kept_output output;
    separate_input();
    if (separate_output(&output, r->own, &run->job.err) != 0)
        return;
    prefer_oom_kill();
    struct process *p = start(r, &run->job.err);
    if (p)
        run->job.done = simulate_run(r, i, p, &output) == 0;
    process_free(p);
}

static void *slot_of(void *context, unsigned i)
{
    return program_run_slot(context, i);
}

/* ---- all of them */

/* Copies standard input to memory if it can be read only once, such as a pipe, so that each run can read it. */
static int keep_input(struct error *err)
{
    struct stat s;
    char part[65536];
    ssize_t n;
    if (fstat(STDIN_FILENO, &s) != 0 || S_ISREG(s.st_mode) || S_ISCHR(s.st_mode))
        return 0;
    int kept = memfd_create("standard input", MFD_CLOEXEC);
    if (kept < 0)
        return error_set(err, -errno, "cannot store standard input: %s", strerror(errno));
    while ((n = io_read(STDIN_FILENO, part, sizeof part)) > 0) {
        int code = io_write(kept, part, (size_t)n);
        if (code < 0)
            return error_set(err, code, "cannot store standard input: %s", strerror(-code));
    }
    lseek(kept, 0, SEEK_SET);
    dup2(kept, STDIN_FILENO);
    close(kept);
    return n < 0 ? error_set(err, (int)n, "cannot read standard input: %s", strerror((int)-n)) : 0;
}

int program_runs_begin(struct program_runs *r, struct error *err)
{
    int code = keep_input(err);
    if (code == 0 && (r->slot = shared_memory(r->count * r->slot_bytes)) == NULL)
        code = error_set(err, -ENOMEM, "out of memory for %u runs", r->count);
    return code;
}

int program_runs_do(struct program_runs *r, struct error *err)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = r->at_once ? r->at_once : processors > 0 ? (uint64_t)processors : 1;
    double start = now_seconds();
    struct jobs all = {.count = r->count,
                       .at_once = jobs < r->count ? (unsigned)jobs : r->count,
                       .slot = slot_of,
                       .work = work,
                       .context = r,
                       .insns = r->simulation->max_insns,
                       .line = r->quiet ? NULL : r->own->line};
    unsigned finished = 0;
    r->interrupted = run_jobs(&all, &finished);
    r->seconds = now_seconds() - start;
    return r->interrupted ? error_set(err, -EINTR, "interrupted by SIG%s after %u of %u runs: there is no report",
                                      sigabbrev_np(r->interrupted), finished, r->count)
                          : 0;
}

struct run_report program_run_report(const struct program_runs *r, unsigned i, const struct simulation *simulation)
{
    const struct program_run *run = program_run_slot(r, i);
    return (struct run_report){.version = CYCLESCOPE_VERSION,
                               .program = run->program,
                               .arguments = run->arguments,
                               .argument_bytes = run->argument_bytes,
                               .interrupted = run->interrupted,
                               .status = run->loader_failed ? STATUS_OWN_ERROR : run->status,
                               .simulation = simulation,
                               .result = run->result,
                               .seconds = run->seconds,
                               .cpu_seconds = run->cpu_seconds,
                               .skip_seconds = run->skip_seconds};
}

int program_run_check(const struct program_runs *r, unsigned i, const char *name, struct error *err)
{
    const struct job *job = program_run_slot(r, i);
    if (job->done)
        return 0;
    if (job->died)
        return error_set(err, -EINTR, "%s failed: %.400s", name, job->err.text);
    *err = job->err;
    return -EINVAL;
}
