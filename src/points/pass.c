#include "points/pass.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emulate/engine.h"
#include "guest/files.h"
#include "guest/host_process.h"
#include "guest/shadow.h"

enum {
    LEADS_PER_STRETCH = 8, /* systematic: a stretch is so many times as long as what warms it */
    STRETCH_MOST = 1024,   /* windows */
    LOOK_EVERY_MS = 2,
};
#define TELL_EVERY UINT64_C(20000000) /* instructions of the run */

/* What a copy tells of a window, in memory that it shares with the run. */
struct slot {
    struct error err;
    uint64_t done;
    uint64_t fingerprint; /* of the copy at the window's end */
    uint64_t number[];
};

/* Windows that one copy measures. */
struct group {
    size_t first, count; /* windows */
    uint64_t begin;      /* instruction at which the copy is made */
    uint8_t *slots;
    int pid; /* of the copy, or 0 */
};

struct run {
    struct process *process;
    const struct pass *pass;
    struct pass_result *result;
    struct engine_state *engine;
    size_t slot_bytes;
    struct group *group;
    size_t groups;
    uint64_t *fingerprint; /* of the run at each window's end; 0 until there */
    size_t passed;         /* windows whose end the run has passed */
    size_t finished;       /* windows that are done */
    unsigned copies;       /* under way */
};

/* ---- windows and groups */

static struct slot *slot_of(const struct run *r, const struct group *g, size_t i)
{
    return (struct slot *)(g->slots + (i - g->first) * r->slot_bytes);
}

static int add_window(struct run *r, const struct window *w, unsigned phase)
{
    struct pass_result *to = r->result;
    if ((to->count & (to->count - 1)) == 0) {
        size_t room = to->count ? 2 * to->count : 1;
        struct measured *more = realloc(to->measured, room * sizeof *more);
        if (more)
            to->measured = more;
        uint64_t *prints = realloc(r->fingerprint, room * sizeof *prints);
        if (prints)
            r->fingerprint = prints;
        if (more == NULL || prints == NULL)
            return -ENOMEM;
    }
    r->fingerprint[to->count] = 0;
    to->measured[to->count++] = (struct measured){.window = *w, .phase = phase};
    return 0;
}

/* Memory that copies write to and that the result refers to. */
static void *allot(struct run *r, size_t bytes)
{
    struct pass_result *to = r->result;
    uint64_t **more = realloc(to->allotted, (to->allotments + 1) * sizeof *more);
    if (more)
        to->allotted = more;
    size_t *sizes = realloc(to->bytes, (to->allotments + 1) * sizeof *sizes);
    if (sizes)
        to->bytes = sizes;
    if (more == NULL || sizes == NULL)
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    to->allotted[to->allotments] = memory;
    to->bytes[to->allotments++] = bytes;
    return memory;
}

static size_t windows_per_group(const struct points *p)
{
    if (p->period == 0)
        return 1;
    uint64_t windows = LEADS_PER_STRETCH * p->lead / p->period;
    return windows < 1 ? 1 : windows < STRETCH_MOST ? windows : STRETCH_MOST;
}

/* The next group; 0 windows if there are no more. */
static int next_group(struct run *r, struct group *g)
{
    const struct points *p = r->pass->points;
    size_t most = windows_per_group(p);
    struct window w;
    *g = (struct group){.first = r->result->count};
    while (g->count < most && points_window(p, r->result->count, &w)) {
        if (add_window(r, &w, p->period ? 0 : p->point[r->result->count].phase) != 0)
            return -ENOMEM;
        g->count++;
    }
    if (g->count == 0)
        return 0;
    uint64_t start = p->period ? g->first * p->period : r->result->measured[g->first].window.start;
    uint64_t before = p->lead + (p->period ? 0 : r->pass->simulation->warmup_insns);
    g->begin = start < before ? 0 : start - before;
    g->slots = allot(r, g->count * r->slot_bytes);
    return g->slots ? 0 : -ENOMEM;
}

/* ---- copies */

struct copy {
    const struct run *run;
    const struct group *group;
};

static void told(void *context, unsigned i, struct process *p, const struct simulation_result *result,
                 const struct error *err)
{
    const struct copy *c = context;
    const struct simulation_sum *sum = c->run->pass->simulation->sum;
    struct slot *to = slot_of(c->run, c->group, c->group->first + i);
    if (result == NULL) {
        to->err = *err;
        return;
    }
    memcpy(to->number, &result->counts, sizeof result->counts);
    if (sum)
        memcpy(to->number + SIMULATION_NUMBERS, sum->numbers, sum->count * sizeof *sum->numbers);
    to->fingerprint = process_fingerprint(p);
    __atomic_store_n(&to->done, 1, __ATOMIC_RELEASE);
}

static void warmed(void *context, unsigned i, const uint64_t grown[WARM_COUNTS])
{
    const struct copy *c = context;
    bool whole = i == c->group->count;
    struct slot *to = slot_of(c->run, c->group, c->group->first + (whole ? 0 : i));
    memcpy(to->number + c->run->result->numbers + (whole ? WARM_COUNTS : 0), grown, WARM_COUNTS * sizeof *grown);
}

static void fail_all(const struct run *r, const struct group *g, const struct error *err)
{
    for (size_t i = g->first; i < g->first + g->count; i++)
        slot_of(r, g, i)->err = *err;
}

/* The copy: makes itself independent, which the run waits for, and measures. */
static _Noreturn void be_copy(const struct run *r, const struct group *g, int ready)
{
    struct window *window = malloc(g->count * sizeof *window);
    struct copy c = {r, g};
    struct error err = {""};
    int code = window ? process_become_shadow(r->process, &err) : error_set(&err, -ENOMEM, "out of memory");
    close(ready);
    for (size_t i = 0; code == 0 && i < g->count; i++)
        window[i] = r->result->measured[g->first + i].window;
    interpreter.destroy(r->engine);
    struct windows w = {
        .simulation = r->pass->simulation, .window = window, .count = (unsigned)g->count, .told = told, .context = &c};
    const struct points *p = r->pass->points;
    if (p->period) {
        w.warmed = warmed;
        w.from = g->first * p->period;
        w.to = w.from + g->count * p->period;
    }
    if (code == 0)
        code = simulate_windows(r->process, &w, &err);
    if (code != 0)
        fail_all(r, g, &err);
    _exit(0);
}

static int begin_copy(struct run *r, struct group *g, struct error *err)
{
    int ends[2], parent = getpid();
    char nothing;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        ends[i] = files_make_private(ends[i]);
        if (ends[i] < 0)
            return error_set(err, ends[i], "cannot make a pipe: %s", strerror(-ends[i]));
    }
    int pid = fork_silently();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(ends[0]);
        be_copy(r, g, ends[1]);
    }
    int code = pid < 0 ? error_set(err, -errno, "cannot start a process: %s", strerror(errno)) : 0;
    close(ends[1]);
    while (code == 0 && read(ends[0], &nothing, 1) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    g->pid = code == 0 ? pid : 0;
    r->copies += code == 0;
    return code;
}

/* ---- what copies have found */

static void harvest(struct run *r, const struct group *g, int status)
{
    for (size_t i = g->first; i < g->first + g->count; i++) {
        struct slot *from = slot_of(r, g, i);
        struct measured *m = &r->result->measured[i];
        if (m->kept)
            continue;
        m->done = from->done;
        m->err = from->err;
        m->number = from->number;
        if (!m->done && m->err.text[0] == '\0')
            error_set(&m->err, -EINTR, "its process ended with status %#x", (unsigned)status);
        r->finished += m->done;
        if (m->done && r->pass->done)
            r->pass->done(r->pass->context, i, m);
    }
}

/* Notes who has ended. */
static void look_at_copies(struct run *r)
{
    for (size_t i = 0; i < r->groups; i++) {
        struct group *g = &r->group[i];
        int status;
        if (g->pid == 0 || waitpid(g->pid, &status, WNOHANG | __WALL) != g->pid)
            continue;
        g->pid = 0;
        r->copies--;
        harvest(r, g, status);
    }
}

static void tell_progress(const struct run *r)
{
    if (r->pass->progress)
        r->pass->progress(r->pass->context, process_retired_insns(r->process), r->finished, r->result->count);
}

/* Until at most `most` copies are under way. */
static void wait_for_copies(struct run *r, unsigned most)
{
    look_at_copies(r);
    while (r->copies > most) {
        tell_progress(r);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_MS * 1000000L}, NULL);
        look_at_copies(r);
    }
}

/* Takes what an earlier run has kept; true if nothing is left to do. */
static bool take_kept(struct run *r, const struct group *g)
{
    size_t taken = 0;
    for (size_t i = g->first; r->pass->kept && i < g->first + g->count; i++) {
        struct measured *m = &r->result->measured[i];
        const uint64_t *number = r->pass->kept(r->pass->context, i);
        if (number == NULL)
            continue;
        memcpy(slot_of(r, g, i)->number, number, (r->result->numbers + PASS_WARM_NUMBERS) * sizeof *number);
        m->number = slot_of(r, g, i)->number;
        m->kept = m->done = true;
        taken++;
    }
    r->finished += taken;
    return taken == g->count;
}

/* ---- the run itself */

/* Runs up to an instruction; false if the process ends before. */
static bool run_to(struct run *r, uint64_t insn)
{
    struct process *p = r->process;
    struct thread *t;
    while (process_retired_insns(p) < insn && (t = process_next(p)) != NULL) {
        struct hart *h = thread_hart(t);
        uint64_t left = insn - process_retired_insns(p);
        if ((uint64_t)h->quantum > left)
            h->quantum = (int64_t)left;
        interpreter.run(r->engine, h);
        process_trap(p, t);
        if (process_is_child(p)) {
            while ((t = process_next(p)) != NULL) {
                interpreter.run(r->engine, thread_hart(t));
                process_trap(p, t);
            }
            end_as_child(p);
        }
    }
    return process_retired_insns(p) >= insn;
}

/* The same, stopping where windows end and now and then to tell of it. */
static bool go_to(struct run *r, uint64_t insn)
{
    for (;;) {
        uint64_t stop = insn, now = process_retired_insns(r->process);
        bool ends = r->passed < r->result->count;
        const struct window *w = ends ? &r->result->measured[r->passed].window : NULL;
        ends = ends && w->start + w->insns <= stop;
        if (ends)
            stop = w->start + w->insns;
        if (stop > now + TELL_EVERY) {
            stop = now + TELL_EVERY;
            ends = false;
        }
        if (!run_to(r, stop))
            return false;
        if (ends)
            r->fingerprint[r->passed++] = process_fingerprint(r->process);
        if (stop == insn)
            return true;
        look_at_copies(r);
        tell_progress(r);
    }
}

static int begin_group(struct run *r, struct group *g, struct error *err)
{
    struct group *more = realloc(r->group, (r->groups + 1) * sizeof *more);
    if (more == NULL)
        return error_set(err, -ENOMEM, "out of memory for points");
    r->group = more;
    if (take_kept(r, g))
        return 0;
    wait_for_copies(r, r->pass->jobs - 1);
    int code = begin_copy(r, g, err);
    if (code == 0)
        r->group[r->groups++] = *g;
    return code;
}

static int run_all(struct run *r, struct error *err)
{
    for (;;) {
        struct group g;
        if (next_group(r, &g) != 0)
            return error_set(err, -ENOMEM, "out of memory for points");
        if (!go_to(r, g.count ? g.begin : UINT64_MAX)) {
            for (size_t i = g.first; i < g.first + g.count; i++)
                error_set(&r->result->measured[i].err, -ENODATA, "the program ends before it");
            break;
        }
        int code = begin_group(r, &g, err);
        if (code != 0)
            return code;
    }
    wait_for_copies(r, 0);
    r->result->insns = process_retired_insns(r->process);
    for (size_t i = 0; i < r->result->count; i++) {
        struct measured *m = &r->result->measured[i];
        for (size_t k = 0; m->done && !m->kept && k < r->groups; k++)
            if (i >= r->group[k].first && i < r->group[k].first + r->group[k].count)
                m->strayed = r->fingerprint[i] && slot_of(r, &r->group[k], i)->fingerprint != r->fingerprint[i];
    }
    return 0;
}

static void end_copies(struct run *r)
{
    for (size_t i = 0; i < r->groups; i++)
        if (r->group[i].pid > 0) {
            kill(r->group[i].pid, SIGKILL);
            waitpid(r->group[i].pid, NULL, __WALL);
        }
}

int pass_run(struct process *p, const struct pass *pass, struct pass_result *result, struct error *err)
{
    struct run r = {.process = p, .pass = pass, .result = result};
    *result = (struct pass_result){0};
    result->numbers = SIMULATION_NUMBERS + (pass->simulation->sum ? pass->simulation->sum->count : 0);
    r.slot_bytes = sizeof(struct slot) + (result->numbers + PASS_WARM_NUMBERS) * sizeof(uint64_t);
    r.engine = interpreter.create(process_memory(p), err);
    int code = r.engine ? run_all(&r, err) : -ENOMEM;
    end_copies(&r);
    if (r.engine)
        interpreter.destroy(r.engine);
    free(r.group);
    free(r.fingerprint);
    if (code != 0)
        pass_result_free(result);
    return code;
}

void pass_result_free(struct pass_result *r)
{
    for (size_t i = 0; i < r->allotments; i++)
        munmap(r->allotted[i], r->bytes[i]);
    free(r->allotted);
    free(r->bytes);
    free(r->measured);
    *r = (struct pass_result){0};
}
