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

enum { LOOK_EVERY_MS = 20 };

void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct job *job_of(const struct jobs *j, unsigned i)
{
    return j->slot(j->context, i);
}

static void begin(const struct jobs *j, unsigned i, pid_t *pid)
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
    j->work(j->context, i);
    _exit(0);
}

/* Whether it has ended by now. */
static bool ended(const struct jobs *j, unsigned i, pid_t pid)
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

static void print_progress(const struct jobs *j, unsigned finished, double seconds)
{
    uint64_t insns = 0;
    for (unsigned i = 0; i < j->count; i++)
        insns += job_of(j, i)->insns;
    fprintf(j->terminal, "\r%u of %u runs, %.2f MIPS", finished, j->count,
            seconds > 0 ? (double)insns / seconds / 1e6 : 0);
    if (j->insns && insns)
        fprintf(j->terminal, ", %.0f s left", seconds * ((double)(j->insns * j->count) / (double)insns - 1));
    fputs("\033[K", j->terminal);
    fflush(j->terminal);
}

void run_jobs(const struct jobs *j)
{
    pid_t *pid = calloc(j->count, sizeof *pid);
    unsigned begun = 0, finished = 0;
    double start = now_seconds(), printed = start;
    if (pid == NULL) {
        for (unsigned i = 0; i < j->count; i++)
            error_set(&job_of(j, i)->err, -ENOMEM, "out of memory");
        return;
    }
    while (finished < j->count) {
        for (; begun < j->count && begun - finished < j->at_once; begun++) {
            begin(j, begun, &pid[begun]);
            finished += pid[begun] < 0;
        }
        for (unsigned i = 0; i < begun; i++) {
            if (pid[i] > 0 && ended(j, i, pid[i])) {
                pid[i] = 0;
                finished++;
            }
        }
        if (j->terminal && now_seconds() - printed >= 0.25) {
            printed = now_seconds();
            print_progress(j, finished, printed - start);
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_MS * 1000000L}, NULL);
    }
    if (j->terminal && printed > start)
        fputs("\r\033[K", j->terminal);
    free(pid);
}
