#include "core/windows.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/simulate_priv.h"
#include "core/warm.h"
#include "guest/host_process.h"
#include "guest/shadow.h"

int fork_silently(void)
{
    fflush(NULL);
    return (int)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
}

/* A functional run that keeps a core warm. */
struct warming {
    struct part part;
    struct engine_state *engine;
    struct warmer warmer;
    struct simulation window; /* that is to be measured next */
};

static void measure(struct warming *m, const struct windows *w, unsigned i)
{
    struct simulation_result r = {0};
    struct error err = {""};
    interpreter.destroy(m->engine);
    m->engine = NULL;
    warm_end(&m->warmer);
    m->window.max_insns = w->window[i].insns;
    int code = part_measure(&m->part, &r, &err);
    if (m->part.is_child) {
        part_hand_to_parent(&m->part, r.cut);
        end_as_child(m->part.process);
    }
    if (code == 0)
        part_add_children(&m->part, &r);
    const char *spoiled = process_spoiled(m->part.process);
    if (code == 0 && spoiled)
        code = error_set(&err, -ENOTSUP, "%s", spoiled);
    else if (code == 0 && !r.cut)
        code = error_set(&err, -ENODATA, "the program ends before it does");
    w->told(w->context, i, m->part.process, code == 0 ? &r : NULL, &err);
}

/* Lets a copy do it. */
static int measure_aside(struct warming *m, const struct windows *w, unsigned i, struct error *err)
{
    int parent = getpid(), status;
    int pid = fork_silently();
    if (pid < 0)
        return error_set(err, -errno, "cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        struct error own = {""};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        if (process_become_shadow(m->part.process, &own) != 0)
            w->told(w->context, i, m->part.process, NULL, &own);
        else
            measure(m, w, i);
        _exit(0);
    }
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status)) {
        error_set(err, -EINTR, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
        w->told(w->context, i, m->part.process, NULL, err);
    }
    return 0;
}

/* Warm up to the instruction before which the next window's warm-up begins; false if the process ends before. */
static bool warm_up_to(struct warming *m, uint64_t insn)
{
    uint64_t now = process_retired_insns(m->part.process);
    if (now < insn)
        now += part_run_functionally(&m->part, &interpreter, m->engine, insn - now);
    if (m->part.is_child) {
        part_run_functionally(&m->part, &interpreter, m->engine, UINT64_MAX);
        end_as_child(m->part.process);
    }
    return now >= insn;
}

struct warm_note {
    uint64_t count[WARM_COUNTS];
};

static struct warm_note note(const struct warming *m)
{
    struct warm_note n;
    warm_read(&m->warmer, n.count);
    n.count[WARM_INSNS] = process_retired_insns(m->part.process);
    return n;
}

static void tell_warmed(const struct warming *m, const struct windows *w, unsigned i, const struct warm_note *since)
{
    struct warm_note n = note(m);
    for (unsigned k = 0; k < WARM_COUNTS; k++)
        n.count[k] -= since->count[k];
    w->warmed(w->context, i, n.count);
}

static void tell_ended(const struct warming *m, const struct windows *w, unsigned i, struct error *err)
{
    const char *spoiled = process_spoiled(m->part.process);
    error_set(err, -ENODATA, "%s", spoiled ? spoiled : "the program ends before it");
    for (; i < w->count; i++)
        w->told(w->context, i, m->part.process, NULL, err);
}

/* Warms to where the window's warm-up begins; false if the program ends before. */
static bool approach(struct warming *m, const struct window *window, uint64_t warmup)
{
    bool there = warm_up_to(m, window->start < warmup ? 0 : window->start - warmup);
    m->window.warmup_insns = there ? window->start - process_retired_insns(m->part.process) : 0;
    return there;
}

static int run_windows(struct warming *m, const struct windows *w, struct error *err)
{
    unsigned i = 0;
    for (; i < w->count && approach(m, &w->window[i], w->simulation->warmup_insns); i++) {
        if (i + 1 == w->count)
            measure(m, w, i);
        else if (measure_aside(m, w, i, err) != 0)
            return -EAGAIN;
    }
    tell_ended(m, w, i, err);
    return 0;
}

/* The same with all that lies between them. */
static int run_stretch(struct warming *m, const struct windows *w, struct error *err)
{
    unsigned i = 0;
    warm_up_to(m, w->from);
    struct warm_note begin = note(m);
    for (; i < w->count && approach(m, &w->window[i], w->simulation->warmup_insns); i++) {
        if (measure_aside(m, w, i, err) != 0)
            return -EAGAIN;
        warm_up_to(m, w->window[i].start);
        struct warm_note start = note(m);
        warm_up_to(m, w->window[i].start + w->window[i].insns);
        tell_warmed(m, w, i, &start);
    }
    tell_ended(m, w, i, err);
    warm_up_to(m, w->to);
    tell_warmed(m, w, w->count, &begin);
    return 0;
}

int simulate_windows(struct process *p, const struct windows *w, struct error *err)
{
    struct warming m = {.window = *w->simulation};
    m.window.moving = true;
    int code = part_new(&m.part, p, &m.window, err);
    if (code != 0)
        return code;
    m.warmer.core = m.part.core;
    m.warmer.strides = part_asks_for_strides(&m.window);
    m.engine = interpreter.create(process_memory(p), err);
    code = m.engine ? 0 : -ENOMEM;
    if (code == 0) {
        warm_begin(&m.warmer, &interpreter, m.engine);
        code = w->warmed ? run_stretch(&m, w, err) : run_windows(&m, w, err);
    }
    if (m.engine)
        interpreter.destroy(m.engine);
    part_free(&m.part);
    return code;
}
