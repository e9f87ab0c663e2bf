#include "cmd/parallel.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/guest_run.h"
#include "cmd/progress.h"

/* The signals that the parent waits for while jobs run: SIGCHLD for the end of a job, and the signals that end the
 * command. They are blocked, and SIGCHLD has its default action, so that ended jobs can be waited for. A job gets the
 * caller's settings, which its guest inherits. */
struct job_signals {
    sigset_t set;
    sigset_t old_mask;
    struct sigaction old_child; /* action of SIGCHLD */
    int interrupted;            /* signal that ends the command, or 0 */
};

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof ending_signals[0] };

static void job_signals_take(struct job_signals *s)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, is;
    s->interrupted = 0;
    sigemptyset(&s->set);
    sigaddset(&s->set, SIGCHLD);
    for (unsigned i = 0; i < ENDING_SIGNALS; i++)
        if (sigaction(ending_signals[i], NULL, &is) == 0 && is.sa_handler != SIG_IGN)
            sigaddset(&s->set, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &s->set, &s->old_mask);
    sigaction(SIGCHLD, &usual, &s->old_child);
}

static void job_signals_give_back(const struct job_signals *s)
{
    sigaction(SIGCHLD, &s->old_child, NULL);
    sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

/* Waits until a job ends, a signal ends the command, or it is time for a line of progress. */
static void job_signals_wait(struct job_signals *s, bool progress)
{
    struct timespec most = {.tv_nsec = PROGRESS_MS * 1000000L};
    int signal = sigtimedwait(&s->set, NULL, progress ? &most : &(struct timespec){.tv_sec = 3600});
    if (signal > 0 && signal != SIGCHLD)
        s->interrupted = signal;
}

void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct job *job_of(const struct jobs *j, unsigned i)
{
    return j->slot(j->context, i);
}

static void start_job(const struct jobs *j, unsigned i, const struct job_signals *s, pid_t *pid)
{
    pid_t parent = getpid();
    *pid = fork();
    if (*pid < 0) {
        error_set(&job_of(j, i)->err, -errno, "cannot start a process: %s", strerror(errno));
        return;
    }
    if (*pid > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    job_signals_give_back(s);
    j->work(j->context, i);
    _exit(0);
}

/* Returns true if the process of job i has ended. Stores an error in the slot if it died without one. */
static bool has_ended(const struct jobs *j, unsigned i, pid_t pid)
{
    int status;
    if (waitpid(pid, &status, WNOHANG) != pid)
        return false;
    struct job *job = job_of(j, i);
    if (job->done || job->err.text[0])
        return true;
    job->died = true;
    if (WIFSIGNALED(status))
        error_set(&job->err, -EINTR, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        error_set(&job->err, -EINVAL, "ended with status %d", WEXITSTATUS(status));
    return true;
}

static void show_progress(const struct jobs *j, unsigned finished, double seconds)
{
    uint64_t insns = 0;
    char speed[40] = "", rest[40] = "";
    for (unsigned i = 0; i < j->count; i++)
        insns += job_of(j, i)->insns;
    if (j->insns && insns)
        snprintf(rest, sizeof rest, ", %.0f s left", seconds * ((double)(j->insns * j->count) / (double)insns - 1));
    if (insns && seconds > 0)
        snprintf(speed, sizeof speed, ", %.2f MIPS", (double)insns / seconds / 1e6);
    status_line_draw(j->line, "%u of %u run%s%s%s", finished, j->count, j->count == 1 ? "" : "s", speed, rest);
}

static void kill_jobs(const pid_t *pid, unsigned begun)
{
    for (unsigned i = 0; i < begun; i++) {
        if (pid[i] <= 0)
            continue;
        kill(pid[i], SIGKILL);
        waitpid(pid[i], NULL, 0);
    }
}

int run_jobs(const struct jobs *j, unsigned *ended)
{
    pid_t *pid = calloc(j->count, sizeof *pid);
    unsigned begun = 0, finished = 0;
    double start = now_seconds(), printed = start;
    struct job_signals signals;
    if (pid == NULL) {
        for (unsigned i = 0; i < j->count; i++)
            error_set(&job_of(j, i)->err, -ENOMEM, "out of memory");
        return 0;
    }
    job_signals_take(&signals);
    while (finished < j->count && signals.interrupted == 0) {
        for (; begun < j->count && begun - finished < j->at_once; begun++) {
            start_job(j, begun, &signals, &pid[begun]);
            finished += pid[begun] < 0;
        }
        for (unsigned i = 0; i < begun; i++) {
            if (pid[i] > 0 && has_ended(j, i, pid[i])) {
                pid[i] = 0;
                finished++;
            }
        }
        if (j->line && now_seconds() - printed >= PROGRESS_MS / 1000.0) {
            printed = now_seconds();
            show_progress(j, finished, printed - start);
        }
        if (begun - finished == j->at_once || (begun == j->count && finished < begun))
            job_signals_wait(&signals, j->line != NULL);
    }
    kill_jobs(pid, begun);
    job_signals_give_back(&signals);
    status_line_clear(j->line);
    free(pid);
    *ended = finished;
    return signals.interrupted;
}
