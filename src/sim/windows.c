#include "sim/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/simulate_priv.h"
#include "sim/warm.h"
#include "guest/host_process.h"
#include "guest/process_copy.h"

/* A functional run that keeps a core warm. */
struct warming {
    struct sim_process proc;
    struct engine_state *engine;
    struct warmer warmer;
    struct simulation window; /* the next window to measure */
    struct running *running;  /* measurements in copies that may not have ended, the oldest first */
    unsigned running_count;
    void *state; /* room for a state to save */
    bool saves;
};

/* A saved state: what the core has to save, and then the branches in flight. */
static size_t state_bytes(const struct warming *m)
{
    return core_warm_bytes(m->proc.core) + sizeof(struct warm_flight);
}

static void save_state(struct warming *m, const struct windows *w, uint64_t unit)
{
    char *flight = (char *)m->state + core_warm_bytes(m->proc.core);
    struct warm_flight in_flight;
    warm_put_flight(&m->warmer, &in_flight);
    core_put_warm(m->proc.core, m->state);
    memcpy(flight, &in_flight, sizeof in_flight);
    m->saves = w->save(w->context, unit, m->state, state_bytes(m)) == 0;
}

/* A measurement: warming reaches the start of its warm-up, and a copy measures the window. */
struct measurement {
    uint64_t at; /* instruction at which its warm-up begins */
    unsigned window;
    bool second;
};

/* A measurement in a copy. */
struct running {
    int pid;
    struct measurement what;
};

/* Measures a window in this process, which cannot go on warming afterwards. */
static void measure(struct warming *m, const struct windows *w, const struct measurement *what)
{
    const struct window *window = &w->window[what->window];
    struct simulation_result r = {0};
    struct error err = {""};
    if (m->engine)
        interpreter.destroy(m->engine);
    m->engine = NULL;
    warm_end(&m->warmer);
    m->window.warmup_insns = window->start - process_retired_insns(m->proc.process);
    m->window.max_insns = window->insns;
    int code = sim_process_measure(&m->proc, &r, &err);
    if (m->proc.is_child) {
        sim_process_hand_to_parent(&m->proc, r.cut);
        end_as_child(m->proc.process);
    }
    if (code == 0)
        sim_process_add_children(&m->proc, &r);
    const char *spoiled = process_spoiled(m->proc.process);
    if (code == 0 && spoiled)
        code = error_set(&err, -ENOTSUP, "%s", spoiled);
    else if (code == 0 && !r.cut)
        code = error_set(&err, -ENODATA, "the program ends before it does");
    w->measured(w->context, what->window, what->second, m->proc.process, code == 0 ? &r : NULL, &err);
}

/* Waits until at most `most` measurements run, the oldest first. Reports those that were killed as not made. */
static void wait_for_measurements(struct warming *m, const struct windows *w, unsigned most)
{
    while (m->running_count > most) {
        const struct running oldest = m->running[0];
        int status = 0;
        struct error err;
        while (waitpid(oldest.pid, &status, __WALL) < 0 && errno == EINTR)
            ;
        memmove(m->running, m->running + 1, --m->running_count * sizeof *m->running);
        if (!WIFSIGNALED(status))
            continue;
        error_set(&err, -EINTR, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
        w->measured(w->context, oldest.what.window, oldest.what.second, m->proc.process, NULL, &err);
    }
}

/* Lets a copy of this process measure. */
static int measure_in_copy(struct warming *m, const struct windows *w, const struct measurement *what,
                           struct error *err)
{
    struct error copy_err = {""};
    int code = 0;
    interpreter.keep_from_forks(m->engine, true);
    int pid = process_fork_copy(m->proc.process, &code, &copy_err);
    if (pid == 0) {
        interpreter.destroy(m->engine);
        m->engine = NULL;
        if (code != 0)
            w->measured(w->context, what->window, what->second, m->proc.process, NULL, &copy_err);
        else
            measure(m, w, what);
        _exit(0);
    }
    interpreter.keep_from_forks(m->engine, false);
    if (pid < 0) {
        *err = copy_err;
        return pid;
    }
    m->running[m->running_count++] = (struct running){pid, *what};
    wait_for_measurements(m, w, w->beside);
    return 0;
}

/* Warms until `insn` instructions of the process have retired; false if the process ends before. In a process that the
 * guest forks meanwhile: runs it to its end and does not return. */
static bool warm_up_to(struct warming *m, uint64_t insn)
{
    uint64_t now = process_retired_insns(m->proc.process);
    if (now < insn)
        now += sim_process_run_functionally(&m->proc, &interpreter, m->engine, insn - now);
    if (m->proc.is_child) {
        sim_process_run_functionally(&m->proc, &interpreter, m->engine, UINT64_MAX);
        end_as_child(m->proc.process);
    }
    return now >= insn;
}

/* Counts of warming so far, by enum warm_count. */
struct warm_snapshot {
    uint64_t count[WARM_COUNTS];
};

static struct warm_snapshot take_snapshot(const struct warming *m)
{
    struct warm_snapshot n;
    warm_read(&m->warmer, n.count);
    n.count[WARM_INSNS] = process_retired_insns(m->proc.process);
    return n;
}

/* Reports what warming counted in unit `i`, since `before`, which is updated. */
static void report_unit(const struct warming *m, const struct windows *w, uint64_t i, struct warm_snapshot *before)
{
    struct warm_snapshot now = take_snapshot(m), grown;
    for (unsigned k = 0; k < WARM_COUNTS; k++)
        grown.count[k] = now.count[k] - before->count[k];
    *before = now;
    w->warmed(w->context, i, grown.count);
}

/* ---- measurements in the order of the run */

static int by_start(const void *a, const void *b)
{
    const struct measurement *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Makes the sorted list of all measurements. Returns their number; `*list` is NULL if memory is missing. */
static unsigned list_measurements(const struct windows *w, struct measurement **list)
{
    unsigned count = 0;
    struct measurement *to = *list = malloc((2 * (size_t)w->count + 1) * sizeof *to);
    for (unsigned i = 0; to && i < w->count; i++)
        for (unsigned second = 0; second <= (w->twice && w->twice[i]); second++) {
            uint64_t warmup = second ? w->second_warmup_insns : w->simulation->warmup_insns;
            uint64_t start = w->window[i].start;
            to[count++] = (struct measurement){start < warmup ? 0 : start - warmup, i, second};
        }
    if (to)
        qsort(to, count, sizeof *to, by_start);
    return count;
}

/* Reports these measurements as not made. */
static void report_unreached(const struct warming *m, const struct windows *w, const struct measurement *list,
                             unsigned count, struct error *err)
{
    const char *spoiled = process_spoiled(m->proc.process);
    error_set(err, -ENODATA, "%s", spoiled ? spoiled : "the program ends before it");
    for (unsigned i = 0; i < count; i++)
        w->measured(w->context, list[i].window, list[i].second, m->proc.process, NULL, err);
}

/* Makes the measurements; the last one in this process, since nothing is warmed after it. */
static int run_windows(struct warming *m, const struct windows *w, const struct measurement *list, unsigned count,
                       struct error *err)
{
    unsigned i = 0;
    for (; i < count && warm_up_to(m, list[i].at); i++) {
        if (i + 1 == count)
            measure(m, w, &list[i]);
        else if (measure_in_copy(m, w, &list[i], err) != 0)
            return -EAGAIN;
    }
    report_unreached(m, w, &list[i], count - i, err);
    return 0;
}

/* Makes the measurements in copies, and reports what warming counts in each unit of the stretch. */
static int run_stretch(struct warming *m, const struct windows *w, const struct measurement *list, unsigned count,
                       struct error *err)
{
    struct warm_snapshot before = {{0}};
    uint64_t boundary = w->from; /* where the next unit begins */
    unsigned i = 0;
    bool runs = true;
    while (runs && (i < count || boundary <= w->to)) {
        bool at_window = i < count && list[i].at < boundary;
        runs = warm_up_to(m, at_window ? list[i].at : boundary);
        if (runs && at_window) {
            if (measure_in_copy(m, w, &list[i++], err) != 0)
                return -EAGAIN;
        } else if (runs) {
            if (boundary == w->from)
                before = take_snapshot(m);
            else
                report_unit(m, w, (boundary - w->from) / w->unit_insns - 1, &before);
            uint64_t unit = (boundary - w->from) / w->unit_insns;
            bool ends = w->stop && __atomic_load_n(w->stop, __ATOMIC_RELAXED);
            if (m->saves && (ends || unit % w->save_units == 0))
                save_state(m, w, unit);
            if (ends)
                break;
            boundary += w->unit_insns;
        }
    }
    report_unreached(m, w, &list[i], count - i, err);
    return 0;
}

int simulate_windows(struct process *p, const struct windows *w, struct error *err)
{
    struct warming m = {.window = *w->simulation};
    const char *flight = w->state ? (const char *)w->state + w->state_bytes - sizeof(struct warm_flight) : NULL;
    m.window.keep_pipeline_full = true;
    if (w->state) {
        m.window.state = w->state;
        m.window.state_bytes = w->state_bytes - sizeof(struct warm_flight);
    }
    int code = sim_process_new(&m.proc, p, &m.window, err);
    if (code != 0)
        return code;
    m.warmer.core = m.proc.core;
    m.warmer.strides = sim_process_wants_strides(&m.window);
    m.engine = interpreter.create(process_memory(p), err);
    code = m.engine ? 0 : -ENOMEM;
    struct measurement *list;
    unsigned count = list_measurements(w, &list);
    m.running = calloc(w->beside + 1, sizeof *m.running);
    m.saves = w->save != NULL;
    m.state = m.saves ? malloc(state_bytes(&m)) : NULL;
    if (code == 0 && (list == NULL || m.running == NULL || (m.saves && m.state == NULL)))
        code = error_set(err, -ENOMEM, "out of memory for windows");
    if (code == 0) {
        warm_begin(&m.warmer, &interpreter, m.engine);
        if (flight) {
            struct warm_flight in_flight;
            memcpy(&in_flight, flight, sizeof in_flight);
            warm_get_flight(&m.warmer, &in_flight);
        }
        code = w->warmed ? run_stretch(&m, w, list, count, err) : run_windows(&m, w, list, count, err);
    }
    wait_for_measurements(&m, w, 0);
    free(m.state);
    free(m.running);
    free(list);
    if (m.engine)
        interpreter.destroy(m.engine);
    sim_process_free(&m.proc);
    return code;
}
