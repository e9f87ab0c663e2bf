/* The caller's side of a run: starts the child process, receives its messages, and kills it if necessary. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/version.h"
#include "lib/lib_priv.h"
#include "sampler/stalls.h"

struct cyclescope {
    pid_t pid;                         /* child process of the simulation */
    int socket;                        /* receives the messages of the child */
    int pidfd;                         /* readable when the child has died; -1 if the host's kernel has no pidfd */
    int ready;                         /* epoll instance over `socket` and `pidfd` */
    bool over;                         /* no more messages will come */
    bool stopped;                      /* a callback ended the run */
    bool reaped;                       /* waitpid was called and `status` is valid */
    int status;                        /* of waitpid; -1: the caller reaped the child itself */
    struct note last;                  /* last note of the child; size 0: it sent none */
    struct cyclescope_breakdown total; /* sum of all breakdowns taken so far */
};

/* ---- errors */

/* Copies a message to the caller's `to`, if it is not NULL. Returns `code`. */
static int report_error(struct cyclescope_error *to, int code, const struct error *from)
{
    if (to)
        snprintf(to->text, sizeof to->text, "%s", from->text);
    return code;
}

static void *start_failed(struct cyclescope *run, struct cyclescope_error *to, int code, const struct error *from)
{
    report_error(to, code, from);
    cyclescope_free(run);
    errno = -code;
    return NULL;
}

/* ---- the end of the process */

static void reap(struct cyclescope *run)
{
    if (run->reaped)
        return;
    pid_t pid;
    do
        pid = waitpid(run->pid, &run->status, 0);
    while (pid < 0 && errno == EINTR);
    if (pid < 0)
        run->status = -1;
    run->reaped = true;
}

/* Kills a process and its descendants, which are processes that the guest forked. Stops each process first, so that it
 * cannot fork while its children are killed. */
static void kill_tree(pid_t pid)
{
    char name[64];
    int child;
    kill(pid, SIGSTOP);
    snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *children = fopen(name, "re");
    while (children && fscanf(children, "%d", &child) == 1)
        kill_tree(child);
    if (children)
        fclose(children);
    kill(pid, SIGKILL);
}

/* Kills the simulation and reaps it. Its pid cannot belong to another process before it is reaped. If the caller reaps
 * all children itself, waitid fails and nothing is killed. */
static void stop(struct cyclescope *run)
{
    if (run->pid > 0 && !run->reaped &&
        waitid(P_PID, (id_t)run->pid, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) == 0)
        kill_tree(run->pid);
    run->over = true;
    reap(run);
}

/* Reaps the child after its last message. Returns 0, or a negative code if the simulation failed or was killed. */
static int conclude(struct cyclescope *run, struct cyclescope_error *error)
{
    struct error err;
    if (run->stopped)
        return 0;
    reap(run);
    if (run->last.size && run->last.kind == NOTE_FAILED)
        return report_error(error, run->last.code, &run->last.error);
    if (run->last.size)
        return 0;
    if (run->status != -1 && WIFSIGNALED(run->status))
        error_set(&err, 0, "the simulation was killed by SIG%s", sigabbrev_np(WTERMSIG(run->status)));
    else
        error_set(&err, 0, "the simulation ended without a message: another process may have killed it");
    return report_error(error, -ECHILD, &err);
}

/* ---- messages */

static void add_up(struct cyclescope_breakdown *total, const struct cyclescope_breakdown *b)
{
    if (total->number == 0) {
        total->first_insn = b->first_insn;
        total->first_cycle = b->first_cycle;
    }
    total->number++;
    total->insns += b->insns;
    total->cycles += b->cycles;
    total->completion += b->completion;
    for (int i = 0; i < CYCLESCOPE_SOURCES; i++) {
        total->stalls[i] += b->stalls[i];
        total->error[i] = (uint64_t)llround(hypot((double)total->error[i], (double)b->error[i]));
    }
}

enum taken {
    TOOK_NOTHING,   /* no message is available */
    TOOK_BREAKDOWN, /* a breakdown */
    TOOK_NOTE,      /* NOTE_STARTED */
    TOOK_END        /* the last note, or the child has closed the socket */
};

/* Receives one message without waiting. */
static enum taken take(struct cyclescope *run, union message *m)
{
    if (run->over)
        return TOOK_END;
    ssize_t n;
    do
        n = recv(run->socket, m, sizeof *m, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return TOOK_NOTHING;
    if (n == sizeof m->breakdown && m->size == sizeof m->breakdown) {
        add_up(&run->total, &m->breakdown);
        return TOOK_BREAKDOWN;
    }
    if (n == sizeof m->note && m->size == sizeof m->note && m->note.kind == NOTE_STARTED)
        return TOOK_NOTE;
    if (n == sizeof m->note && m->size == sizeof m->note)
        run->last = m->note;
    run->over = true;
    return TOOK_END;
}

/* Waits for one message. Polls the pidfd, too: after the simulation was killed, processes that it forked may still hold
 * the socket open. */
static enum taken take_next(struct cyclescope *run, union message *m)
{
    enum taken taken;
    struct pollfd wait[2] = {{.fd = run->socket, .events = POLLIN}, {.fd = run->pidfd, .events = POLLIN}};
    while ((taken = take(run, m)) == TOOK_NOTHING) {
        bool dead = poll(wait, 2, -1) > 0 && wait[1].revents && !wait[0].revents;
        if (dead && (taken = take(run, m)) == TOOK_NOTHING) {
            run->over = true;
            return TOOK_END;
        }
        if (dead)
            break;
    }
    return taken;
}

/* ---- start */

static int open_watch(struct cyclescope *run, struct error *err)
{
    struct epoll_event in = {.events = EPOLLIN};
    run->pidfd = (int)syscall(SYS_pidfd_open, run->pid, 0);
    run->ready = epoll_create1(EPOLL_CLOEXEC);
    if (run->ready < 0 || epoll_ctl(run->ready, EPOLL_CTL_ADD, run->socket, &in) != 0 ||
        (run->pidfd >= 0 && epoll_ctl(run->ready, EPOLL_CTL_ADD, run->pidfd, &in) != 0))
        return error_set(err, -errno, "cannot wait for the simulation: %s", strerror(errno));
    return 0;
}

/* Forks the child. All signals are blocked meanwhile: the caller's handlers must not run in the child before it has
 * removed them. */
static int fork_child(struct cyclescope *run, struct launch *l, struct error *err)
{
    int pair[2];
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return error_set(err, -errno, "cannot create a socket pair for the simulation: %s", strerror(errno));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    run->pid = fork();
    if (run->pid == 0) {
        close(pair[0]);
        child_main(l, pair[1]);
    }
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    run->socket = pair[0];
    return run->pid < 0 ? error_set(err, -code, "cannot fork a process for the simulation: %s", strerror(code)) : 0;
}

struct cyclescope *cyclescope_start(char *const argv[], const struct cyclescope_options *options,
                                    struct cyclescope_error *error)
{
    struct error err;
    struct launch *l = malloc(sizeof *l);
    struct cyclescope *run = calloc(1, sizeof *run);
    if (l == NULL || run == NULL) {
        free(l);
        free(run);
        error_set(&err, 0, "out of memory");
        return start_failed(NULL, error, -ENOMEM, &err);
    }
    run->pid = run->socket = run->pidfd = run->ready = -1;
    run->total = (struct cyclescope_breakdown){.size = sizeof run->total, .version = CYCLESCOPE_API_VERSION};
    int code = launch_prepare(l, argv, options, &err);
    if (code == 0)
        code = fork_child(run, l, &err);
    free(l);
    if (code == 0)
        code = open_watch(run, &err);
    if (code != 0)
        return start_failed(run, error, code, &err);
    union message first;
    if (take_next(run, &first) == TOOK_NOTE)
        return run;
    code = conclude(run, error);
    cyclescope_free(run);
    errno = -code;
    return NULL;
}

/* ---- taking breakdowns */

int cyclescope_fd(const struct cyclescope *run)
{
    return run->ready;
}

int cyclescope_next(struct cyclescope *run, struct cyclescope_breakdown *next, struct cyclescope_error *error)
{
    union message m;
    if (take_next(run, &m) == TOOK_END)
        return conclude(run, error);
    *next = m.breakdown;
    return 1;
}

int cyclescope_latest(struct cyclescope *run, struct cyclescope_breakdown *latest, struct cyclescope_error *error)
{
    union message m;
    int some = 0;
    enum taken taken;
    while ((taken = take(run, &m)) == TOOK_BREAKDOWN) {
        *latest = m.breakdown;
        some = 1;
    }
    return some || taken == TOOK_NOTHING ? some : conclude(run, error);
}

int cyclescope_ended(const struct cyclescope *run)
{
    return run->over;
}

int cyclescope_each(struct cyclescope *run, cyclescope_callback *callback, void *context,
                    struct cyclescope_error *error)
{
    struct cyclescope_breakdown b;
    int code;
    while ((code = cyclescope_next(run, &b, error)) > 0)
        if (callback(context, &b) != 0) {
            run->stopped = true;
            stop(run);
            return 1;
        }
    return code;
}

int cyclescope_finish(struct cyclescope *run, struct cyclescope_result *result, struct cyclescope_error *error)
{
    union message m;
    while (take_next(run, &m) != TOOK_END)
        continue;
    int code = conclude(run, error);
    if (code == 0)
        *result = (struct cyclescope_result){
            .exit_status = run->last.status, .cut = run->stopped || run->last.cut, .total = run->total};
    return code;
}

void cyclescope_free(struct cyclescope *run)
{
    if (run == NULL)
        return;
    if (run->pid > 0 && !run->reaped)
        stop(run);
    for (int *fd = (int[]){run->socket, run->pidfd, run->ready, -2}; *fd != -2; fd++)
        if (*fd >= 0)
            close(*fd);
    free(run);
}

/* ---- names */

const char *cyclescope_source_name(enum cyclescope_source source)
{
    return (unsigned)source < CYCLESCOPE_SOURCES ? stall_rows[source].label : NULL;
}

const char *cyclescope_version(void)
{
    return CYCLESCOPE_VERSION;
}
