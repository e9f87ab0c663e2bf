/* The child process of a run, in which the simulation runs. It needs a process of its own, because the guest uses the
 * descriptors, the signals and the working folder of its host process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/files.h"
#include "guest/host_process.h"
#include "lib/lib_priv.h"
#include "sampler/breakdown.h"
#include "sampler/stall_monitor.h"

struct child {
    struct launch *launch;
    int socket; /* to the caller; its number is in the range that the guest cannot use */
    struct process *process;
    struct breakdown_report report; /* what the guest reads from /dev/cyclescope */
    struct stall_monitor *monitor;
};

/* ---- messages */

/* Sends a message to the caller. Blocks while the socket is full. Returns false if the caller has closed its end. */
static bool send_message(const struct child *c, const void *message, size_t size)
{
    ssize_t n;
    do
        n = send(c->socket, message, size, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

_Noreturn static void end(const struct child *c, struct note *note)
{
    note->size = sizeof *note;
    send_message(c, note, sizeof *note);
    _exit(note->kind == NOTE_FAILED);
}

_Noreturn static void fail(const struct child *c, int code, const struct error *err)
{
    struct note note = {.kind = NOTE_FAILED, .code = code, .error = *err};
    end(c, &note);
}

static void interval_ended(void *context, const struct stall_interval *interval)
{
    struct child *c = context;
    breakdown_report_add(&c->report, interval);
    if (!send_message(c, &c->report.latest, sizeof c->report.latest)) {
        process_abandon_children(c->process);
        _exit(1);
    }
}

/* ---- separation from the caller */

/* Does to signals what exec does: removes handlers, which are the caller's code and must not run here; ignored signals
 * stay ignored. */
static void reset_signals(void)
{
    struct sigaction action;
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL) {
            action = (struct sigaction){.sa_handler = SIG_DFL};
            sigaction(number, &action, NULL);
        }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes the three descriptors of the options the guest's 0, 1 and 2, and closes all other descriptors of the caller. */
static int take_descriptors(struct child *c, struct error *err)
{
    const struct cyclescope_options *o = &c->launch->options;
    const int given[3] = {o->input, o->output ? o->output : STDOUT_FILENO, o->errors ? o->errors : STDERR_FILENO};
    int copy[3];
    int socket = fcntl(c->socket, F_DUPFD_CLOEXEC, FD_PRIVATE);
    if (socket < 0)
        return error_set(err, -EMFILE,
                         "the limit on open files is too low: the simulation needs more than %d (ulimit -n)",
                         FD_PRIVATE);
    c->socket = socket;
    for (int i = 0; i < 3; i++) {
        copy[i] = fcntl(given[i], F_DUPFD, socket + 1);
        bool same_number = given[i] == i; /* may be closed in the caller: then it is closed in the guest, too */
        if (copy[i] < 0 && !(same_number && errno == EBADF))
            return error_set(err, -errno, "descriptor %d cannot become the program's %d: %s", given[i], i,
                             strerror(errno));
    }
    for (int i = 0; i < 3; i++)
        if (copy[i] < 0)
            close(i);
        else if (dup2(copy[i], i) < 0)
            return error_set(err, -errno, "descriptor %d cannot become the program's %d: %s", given[i], i,
                             strerror(errno));
    close_range(3, (unsigned)socket - 1, 0);
    close_range((unsigned)socket + 1, ~0u, 0);
    return 0;
}

/* ---- the run */

static int observe(struct child *c, struct error *err)
{
    const struct cyclescope_options *o = &c->launch->options;
    struct stalls_config stalls = {.clock = o->interval_insns ? CLOCK_INSNS : CLOCK_CYCLES,
                                   .interval = o->interval_insns ? o->interval_insns : o->interval_cycles,
                                   .sink = interval_ended,
                                   .context = c};
    struct stall_monitor_config config = {.exact = !o->multiplexed,
                                          .quantum = c->launch->guest.quantum_insns,
                                          .stalls = &stalls,
                                          .plan = {.slice = o->slice}};
    c->monitor = stall_monitor_new(&config, &c->launch->simulation, err);
    return c->monitor ? 0 : -EINVAL;
}

static void run(struct child *c)
{
    struct launch *l = c->launch;
    struct simulation_result result;
    struct note started = {.size = sizeof started, .kind = NOTE_STARTED};
    struct error err;
    breakdown_report_init(&c->report);
    l->guest.report = &c->report.report;
    int code = observe(c, &err);
    if (code != 0)
        fail(c, code, &err);
    c->process = process_new(&l->guest, &err);
    if (c->process == NULL)
        fail(c, -ENOEXEC, &err);
    if (!send_message(c, &started, sizeof started))
        _exit(1);
    code = simulate_process(c->process, &l->simulation, &result, &err);
    if (process_is_child(c->process) && code == 0)
        end_as_child(c->process);
    if (process_is_child(c->process))
        _exit(1);
    if (code != 0)
        fail(c, code, &err);
    if (process_loader_failed(c->process)) {
        error_set(&err, -ENOEXEC, "the dynamic loader could not start %s: a library is missing",
                  process_program(c->process));
        fail(c, -ENOEXEC, &err);
    }
    struct stall_interval total;
    code = stall_monitor_finish(c->monitor, &total, &err);
    if (code != 0)
        fail(c, code, &err);
    struct note note = {.kind = NOTE_ENDED, .cut = result.cut};
    note.status = result.cut ? 0 : process_status(c->process);
    end(c, &note);
}

_Noreturn void child_main(struct launch *l, int socket)
{
    struct child c = {.launch = l, .socket = socket};
    struct error err;
    reset_signals();
    prefer_oom_kill();
    int code = take_descriptors(&c, &err);
    if (code != 0)
        fail(&c, code, &err);
    run(&c);
    _exit(0); /* not reached: run does not return */
}
