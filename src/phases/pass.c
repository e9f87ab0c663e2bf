#include "phases/pass.h"

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
#include "guest/process_copy.h"

enum {
    BATCH_MOST = 1024, /* most windows of a batch */
    POLL_MS = 2,       /* pause between two checks for copies that have ended */
};
#define PROGRESS_INSNS UINT64_C(20000000) /* instructions of the run between two reports of progress */

/* The result of a window, in memory that the copies share with the run. */
struct shared_result {
    struct error err;     /* if not done: the reason */
    uint64_t done;        /* 1: the first measurement is valid */
    uint64_t fingerprint; /* of the copy at the end of the window */
    uint64_t number[];    /* as in struct measured */
};

/* Windows that one copy measures. */
struct batch {
    size_t first, count;            /* its windows */
    uint64_t begin;                 /* instruction at which the process is copied */
    bool second;                    /* points: the second measurement of its windows */
    uint64_t from, to;              /* the stretch whose units are counted; to 0: none */
    uint64_t (*units)[WARM_COUNTS]; /* what warming counts in them */
    int pid;                        /* host process of the copy; 0: it has ended */
};

struct run {
    struct process *process;
    const struct pass *pass;
    struct pass_result *result;
    struct engine_state *engine;
    size_t result_bytes;           /* size of a struct shared_result with its values */
    struct batch *batch;           /* points: all batches, by `begin`; systematic: those that were started */
    size_t batches;                /* number of batches in `batch` */
    size_t started;                /* batches that were started, or whose windows are all kept */
    struct shared_result **shared; /* by window: its result */
    uint64_t *fingerprint;         /* by window: of the run at the end of the window; 0 before */
    size_t passed;                 /* windows that the run has passed the end of */
    size_t finished;               /* windows that are done */
    unsigned copies;               /* copies that run now */
};

size_t pass_numbers(const struct pass *pass)
{
    size_t numbers = SIMULATION_NUMBERS + (pass->simulation->sum ? pass->simulation->sum->count : 0);
    return 2 * numbers + 1;
}

const uint64_t *pass_second(const struct pass_result *r, const struct measured *m)
{
    return m->done && m->number[r->numbers] ? m->number + r->numbers + 1 : NULL;
}

size_t pass_units(const struct pass_result *r)
{
    const struct unit_counts *last = r->stretch + r->stretches - 1;
    return r->stretches ? last->first + last->count : 0;
}

const uint64_t *pass_unit(const struct pass_result *r, size_t u)
{
    size_t low = 0, high = r->stretches;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (u < r->stretch[middle].first + r->stretch[middle].count)
            high = middle;
        else
            low = middle + 1;
    }
    return low < r->stretches && u >= r->stretch[low].first ? r->stretch[low].of[u - r->stretch[low].first] : NULL;
}

/* ---- windows and batches */

/* Allocates memory that copies write to; it belongs to the result. */
static void *allocate_shared(struct run *r, size_t bytes)
{
    struct pass_result *to = r->result;
    uint64_t **more = realloc(to->shared, (to->shared_count + 1) * sizeof *more);
    if (more)
        to->shared = more;
    size_t *sizes = realloc(to->shared_bytes, (to->shared_count + 1) * sizeof *sizes);
    if (sizes)
        to->shared_bytes = sizes;
    if (more == NULL || sizes == NULL)
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    to->shared[to->shared_count] = memory;
    to->shared_bytes[to->shared_count++] = bytes;
    return memory;
}

/* Makes room for window number result.count. The arrays grow when that number reaches a power of two. */
static int grow_windows(struct run *r)
{
    struct pass_result *to = r->result;
    if ((to->count & (to->count - 1)) != 0)
        return 0;
    size_t room = to->count ? 2 * to->count : 1;
    struct measured *more = realloc(to->measured, room * sizeof *more);
    if (more)
        to->measured = more;
    uint64_t *prints = realloc(r->fingerprint, room * sizeof *prints);
    if (prints)
        r->fingerprint = prints;
    struct shared_result **shared = realloc(r->shared, room * sizeof *shared);
    if (shared)
        r->shared = shared;
    return more && prints && shared ? 0 : -ENOMEM;
}

/* Appends the next windows of the sample, at most `most`, with memory for their results. Returns their number, or
 * -ENOMEM. */
static long add_windows(struct run *r, size_t most)
{
    struct pass_result *to = r->result;
    const struct points *p = r->pass->points;
    size_t first = to->count, count;
    struct window w;
    for (; to->count < first + most && points_window(p, to->count, &w); to->count++) {
        if (grow_windows(r) != 0)
            return -ENOMEM;
        r->fingerprint[to->count] = 0;
        to->measured[to->count] = (struct measured){.window = w, .phase = p->period ? 0 : p->point[to->count].phase};
    }
    count = to->count - first;
    uint8_t *results = count ? allocate_shared(r, count * r->result_bytes) : NULL;
    if (count && results == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        r->shared[first + i] = (struct shared_result *)(results + i * r->result_bytes);
    return (long)count;
}

static int add_batch(struct run *r, const struct batch *b)
{
    struct batch *more = realloc(r->batch, (r->batches + 1) * sizeof *more);
    if (more == NULL)
        return -ENOMEM;
    r->batch = more;
    r->batch[r->batches++] = *b;
    return 0;
}

/* The instruction `lead` and `warmup` before another one, at which a copy begins. */
static uint64_t begin_before(uint64_t start, uint64_t lead, uint64_t warmup)
{
    return start < lead + warmup ? 0 : start - lead - warmup;
}

/* Adds a batch that warms this whole stretch and counts in its units. `first` and `count` are its windows. */
static int add_counted(struct run *r, size_t first, size_t count, uint64_t from, uint64_t to)
{
    const struct points *p = r->pass->points;
    struct pass_result *result = r->result;
    size_t units = (to - from) / p->insns, first_unit = (from - p->head) / p->insns;
    uint64_t(*counts)[WARM_COUNTS] = allocate_shared(r, units * sizeof *counts);
    struct unit_counts *more = realloc(result->stretch, (result->stretches + 1) * sizeof *more);
    if (more)
        result->stretch = more;
    if (more == NULL || counts == NULL)
        return -ENOMEM;
    result->stretch[result->stretches++] =
        (struct unit_counts){.first = first_unit, .count = units, .of = (const uint64_t(*)[WARM_COUNTS])counts};
    uint64_t warmup = SECOND_WARMUPS * r->pass->simulation->warmup_insns;
    struct batch b = {.first = first, .count = count, .from = from, .to = to, .units = counts};
    b.begin = begin_before(from, p->lead, warmup);
    return add_batch(r, &b);
}

/* Adds the batch of the head, which begins with a cold core. */
static int add_head(struct run *r)
{
    return add_batch(r, &(struct batch){.first = 0, .count = 1});
}

/* Adds the next batch of a systematic sample: the head, or a stretch of periods. */
static int add_stretch(struct run *r)
{
    const struct points *p = r->pass->points;
    size_t first = r->result->count, most = 1;
    bool head = p->head && first == 0;
    if (!head) {
        uint64_t stretch = first == (p->head > 0) ? p->first_stretch : p->stretch;
        uint64_t windows = (stretch + p->period - 1) / p->period; /* else the last one would leave a rest */
        most = windows < 1 ? 1 : windows < BATCH_MOST ? windows : BATCH_MOST;
    }
    long count = add_windows(r, most);
    if (count < 0)
        return -ENOMEM;
    uint64_t from = p->head + (first - (p->head > 0)) * p->period;
    return head ? add_head(r) : add_counted(r, first, (size_t)count, from, from + (uint64_t)count * p->period);
}

static int by_begin(const void *a, const void *b)
{
    const struct batch *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Whether the copy of a batch makes the second measurements of this window, too: it has warmed for as long as they ask
 * for when it comes to the window, or from the start of the run. */
static bool measures_twice(const struct run *r, const struct batch *b, size_t i)
{
    const struct points *p = r->pass->points;
    uint64_t warmup = SECOND_WARMUPS * r->pass->simulation->warmup_insns;
    if (b->second || !points_twice(p, i))
        return false;
    return b->to || b->begin <= begin_before(p->point[i].window.start, p->second_lead, warmup);
}

/* Makes the batches of points of which every unit of the run is counted: the head, and stretches up to the last
 * complete unit. */
static int cover_run(struct run *r)
{
    const struct points *p = r->pass->points;
    uint64_t end = p->head + (p->covered - p->head) / p->insns * p->insns, length = p->first_stretch;
    size_t first = p->head > 0, last;
    int code = p->head ? add_head(r) : 0;
    for (uint64_t from = p->head, to; code == 0 && from < end; from = to, length = p->stretch, first = last) {
        uint64_t units = (length + p->insns - 1) / p->insns;
        to = end - from > units * p->insns ? from + units * p->insns : end;
        for (last = first; last < p->count && p->point[last].window.start < to;)
            last++;
        code = add_counted(r, first, last - first, from, to);
    }
    return code;
}

/* Makes the batches of points that are warm from a lead on: consecutive points with less than a lead between them are
 * one batch, up to a stretch. A second measurement is a batch of its own if it needs a longer lead. */
static int join_points(struct run *r)
{
    const struct points *p = r->pass->points;
    uint64_t warmup = r->pass->simulation->warmup_insns, batch_end = p->first_stretch;
    int code = 0;
    for (size_t i = 0, end; code == 0 && i < p->count; i = end) {
        uint64_t start = p->point[i].window.start;
        bool head = p->head && i == 0;
        if (start >= batch_end)
            batch_end = start + p->stretch;
        for (end = i + 1; !head && end < p->count && end - i < BATCH_MOST; end++) {
            const struct window *last = &p->point[end - 1].window, *next = &p->point[end].window;
            if (next->start - (last->start + last->insns) > p->lead || next->start >= batch_end)
                break;
        }
        struct batch b = {.first = i, .count = end - i, .begin = begin_before(start, p->lead, warmup)};
        code = add_batch(r, &b);
        for (size_t k = i; code == 0 && k < end; k++) {
            struct batch again = {.first = k, .count = 1, .second = true};
            again.begin = begin_before(p->point[k].window.start, p->second_lead, SECOND_WARMUPS * warmup);
            if (p->point[k].twice && !measures_twice(r, &b, k))
                code = add_batch(r, &again);
        }
    }
    return code;
}

static int make_batches(struct run *r)
{
    const struct points *p = r->pass->points;
    int code = add_windows(r, p->count) < 0 ? -ENOMEM : 0;
    if (code == 0)
        code = p->covered ? cover_run(r) : join_points(r);
    if (code == 0)
        qsort(r->batch, r->batches, sizeof *r->batch, by_begin);
    return code;
}

/* The next batch to start; NULL: there are no more. */
static struct batch *next_batch(struct run *r, int *code)
{
    *code = r->pass->points->period && r->started == r->batches ? add_stretch(r) : 0;
    return *code == 0 && r->started < r->batches ? &r->batch[r->started++] : NULL;
}

/* ---- copies */

/* Context of the callbacks in a copy. */
struct copy {
    const struct run *run;
    const struct batch *batch;
    const size_t *window; /* the windows that it measures, by their number in the run */
};

/* windows.measured: window `i` of the copy was measured, or failed. Stores the result in shared memory; the flag that
 * makes the result valid is stored last, with release order. */
static void window_measured(void *context, unsigned i, bool second, struct process *p,
                            const struct simulation_result *result, const struct error *err)
{
    const struct copy *c = context;
    const struct simulation_sum *sum = c->run->pass->simulation->sum;
    struct shared_result *to = c->run->shared[c->window[i]];
    size_t numbers = c->run->result->numbers;
    second |= c->batch->second;
    uint64_t *number = to->number + (second ? numbers + 1 : 0);
    if (result == NULL) {
        if (!second)
            to->err = *err;
        return;
    }
    memcpy(number, &result->counts, sizeof result->counts);
    if (sum)
        memcpy(number + SIMULATION_NUMBERS, sum->numbers, sum->count * sizeof *sum->numbers);
    if (!second)
        to->fingerprint = process_fingerprint(p);
    __atomic_store_n(second ? &to->number[numbers] : &to->done, 1, __ATOMIC_RELEASE);
}

/* windows.warmed: stores what warming counted in a unit of the stretch. */
static void unit_warmed(void *context, uint64_t unit, const uint64_t grown[WARM_COUNTS])
{
    const struct copy *c = context;
    memcpy(c->batch->units[unit], grown, sizeof c->batch->units[unit]);
}

static void fail_all(const struct run *r, const struct batch *b, const struct error *err)
{
    for (size_t i = b->first; !b->second && i < b->first + b->count; i++)
        r->shared[i]->err = *err;
}

/* What a copy measures. */
struct copy_windows {
    size_t *number; /* by window: its number in the run */
    struct window *window;
    bool *twice;
    unsigned count;
};

/* Lists the windows of the batch that are not kept. 0 or -ENOMEM. */
static int list_windows(const struct run *r, const struct batch *b, struct copy_windows *to)
{
    *to = (struct copy_windows){.number = calloc(b->count + 1, sizeof *to->number),
                                .window = calloc(b->count + 1, sizeof *to->window),
                                .twice = calloc(b->count + 1, sizeof *to->twice)};
    if (to->number == NULL || to->window == NULL || to->twice == NULL)
        return -ENOMEM;
    for (size_t i = b->first; i < b->first + b->count; i++) {
        if (r->result->measured[i].kept)
            continue;
        to->number[to->count] = i;
        to->window[to->count] = r->result->measured[i].window;
        to->twice[to->count++] = measures_twice(r, b, i);
    }
    return 0;
}

/* The host process of a copy: becomes independent of the run, which waits until `ready` is closed, and measures. */
static _Noreturn void run_copy(const struct run *r, const struct batch *b, int ready)
{
    struct copy_windows list;
    struct error err = {""};
    struct simulation simulation = *r->pass->simulation;
    int code = list_windows(r, b, &list) == 0 ? process_become_copy(r->process, &err)
                                              : error_set(&err, -ENOMEM, "out of memory");
    struct copy c = {r, b, list.number};
    close(ready);
    interpreter.destroy(r->engine);
    struct windows w = {.simulation = &simulation,
                        .window = list.window,
                        .count = list.count,
                        .twice = list.twice,
                        .second_warmup_insns = SECOND_WARMUPS * simulation.warmup_insns,
                        .measured = window_measured,
                        .context = &c};
    if (b->second)
        simulation.warmup_insns = w.second_warmup_insns;
    if (b->to) {
        w.warmed = unit_warmed;
        w.unit_insns = r->pass->points->insns;
        w.from = b->from;
        w.to = b->to;
    }
    if (code == 0)
        code = simulate_windows(r->process, &w, &err);
    if (code != 0)
        fail_all(r, b, &err);
    _exit(0);
}

/* Forks a copy for the batch, and waits until the copy is independent. */
static int begin_copy(struct run *r, struct batch *b, struct error *err)
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
        run_copy(r, b, ends[1]);
    }
    int code = pid < 0 ? error_set(err, -errno, "cannot start a process: %s", strerror(errno)) : 0;
    close(ends[1]);
    while (code == 0 && read(ends[0], &nothing, 1) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    b->pid = code == 0 ? pid : 0;
    r->copies += code == 0;
    return code;
}

/* ---- results of copies */

/* Whether all measurements of a window are there. */
static bool is_complete(const struct run *r, size_t i)
{
    return r->shared[i]->done && (!points_twice(r->pass->points, i) || r->shared[i]->number[r->result->numbers]);
}

/* The copy of this batch has ended: takes its results. */
static void collect_results(struct run *r, const struct batch *b, int status)
{
    for (size_t i = b->first; i < b->first + b->count; i++) {
        struct shared_result *from = r->shared[i];
        struct measured *m = &r->result->measured[i];
        if (m->kept)
            continue;
        bool was_done = m->done;
        m->done = from->done;
        m->err = from->err;
        m->number = from->number;
        if (!m->done && !b->second && m->err.text[0] == '\0')
            error_set(&m->err, -EINTR, "its process ended with status %#x", (unsigned)status);
        r->finished += m->done && !was_done;
        if (is_complete(r, i) && r->pass->done)
            r->pass->done(r->pass->context, i, m);
    }
}

/* Takes the results of all copies that have ended. Does not wait. */
static void reap_copies(struct run *r)
{
    for (size_t i = 0; i < r->started; i++) {
        struct batch *b = &r->batch[i];
        int status;
        if (b->pid == 0 || waitpid(b->pid, &status, WNOHANG | __WALL) != b->pid)
            continue;
        b->pid = 0;
        r->copies--;
        collect_results(r, b, status);
    }
}

/* Kills copies that still run, after an error or an interruption, and takes their results. */
static void kill_copies(struct run *r)
{
    for (size_t i = 0; i < r->batches; i++) {
        struct batch *b = &r->batch[i];
        int status = 0;
        if (b->pid <= 0)
            continue;
        kill(b->pid, SIGKILL);
        waitpid(b->pid, &status, __WALL);
        b->pid = 0;
        r->copies--;
        collect_results(r, b, status);
    }
}

static void report_progress(const struct run *r)
{
    if (r->pass->progress)
        r->pass->progress(r->pass->context, process_retired_insns(r->process), r->finished, r->result->count);
}

/* Waits until at most `most` copies run, or until the run is interrupted. */
static void wait_for_copies(struct run *r, unsigned most)
{
    reap_copies(r);
    while (r->copies > most && process_interruption(r->process) == 0) {
        report_progress(r);
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        reap_copies(r);
    }
}

/* Takes the values that an earlier run has kept. True: the batch needs no copy, since it counts no units either. */
static bool take_kept(struct run *r, const struct batch *b)
{
    size_t taken = 0;
    for (size_t i = b->first; r->pass->kept && i < b->first + b->count; i++) {
        struct measured *m = &r->result->measured[i];
        const uint64_t *number = m->kept ? NULL : r->pass->kept(r->pass->context, i);
        if (number) {
            memcpy(r->shared[i]->number, number, pass_numbers(r->pass) * sizeof *number);
            m->number = r->shared[i]->number;
            m->kept = m->done = true;
            r->finished++;
        }
        taken += m->kept;
    }
    return taken == b->count && b->to == 0;
}

/* ---- the run itself */

/* Runs the process to instruction number `insn`. False: it ends before. A process that the guest forks runs to its end
 * in here, and does not return. */
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

/* As run_to, with stops: at the end of each window for the fingerprint, and every PROGRESS_INSNS to report progress. */
static bool run_with_stops(struct run *r, uint64_t insn)
{
    for (;;) {
        uint64_t stop = insn, now = process_retired_insns(r->process);
        bool ends = r->passed < r->result->count;
        const struct window *w = ends ? &r->result->measured[r->passed].window : NULL;
        ends = ends && w->start + w->insns <= stop;
        if (ends)
            stop = w->start + w->insns;
        if (stop > now + PROGRESS_INSNS) {
            stop = now + PROGRESS_INSNS;
            ends = false;
        }
        if (!run_to(r, stop))
            return false;
        if (ends)
            r->fingerprint[r->passed++] = process_fingerprint(r->process);
        if (stop == insn)
            return true;
        reap_copies(r);
        report_progress(r);
    }
}

/* Starts a copy for the batch, unless all its windows are kept. Waits while `jobs` copies run. Returns 0, 1 if the
 * program was interrupted and has ended, or a negative code. */
static int begin_batch(struct run *r, struct batch *b, struct error *err)
{
    if (take_kept(r, b))
        return 0;
    wait_for_copies(r, r->pass->jobs - 1);
    if (process_interruption(r->process) && !run_to(r, process_retired_insns(r->process) + 1))
        return 1;
    while (r->copies > r->pass->jobs - 1) { /* the program handled the interruption: it goes on */
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        reap_copies(r);
    }
    return begin_copy(r, b, err);
}

/* The whole pass: runs to the start of each batch, starts its copy, runs to the end of the program, waits for all
 * copies and compares fingerprints. */
static int run_all(struct run *r, struct error *err)
{
    int code = r->pass->points->period ? 0 : make_batches(r);
    while (code == 0) {
        struct batch *b = next_batch(r, &code);
        if (code != 0)
            break;
        bool goes_on = run_with_stops(r, b ? b->begin : UINT64_MAX);
        int begun = goes_on ? begin_batch(r, b, err) : 1;
        if (begun < 0)
            return begun;
        if (begun > 0) {
            for (size_t i = 0; i < r->result->count; i++)
                if (!r->shared[i]->done && r->result->measured[i].number == NULL)
                    error_set(&r->result->measured[i].err, -ENODATA, "the program ends before it");
            break;
        }
    }
    if (code != 0)
        return error_set(err, code, "out of memory for points");
    wait_for_copies(r, 0);
    kill_copies(r); /* of an interrupted run; the windows that they have measured count */
    r->result->insns = process_retired_insns(r->process);
    for (size_t i = 0; i < r->result->count; i++) {
        struct measured *m = &r->result->measured[i];
        m->strayed = m->done && !m->kept && r->fingerprint[i] && r->shared[i]->fingerprint != r->fingerprint[i];
    }
    return 0;
}

int pass_run(struct process *p, const struct pass *pass, struct pass_result *result, struct error *err)
{
    struct run r = {.process = p, .pass = pass, .result = result};
    *result = (struct pass_result){0};
    result->numbers = SIMULATION_NUMBERS + (pass->simulation->sum ? pass->simulation->sum->count : 0);
    r.result_bytes = sizeof(struct shared_result) + pass_numbers(pass) * sizeof(uint64_t);
    r.engine = interpreter.create(process_memory(p), err);
    int code = r.engine ? run_all(&r, err) : -ENOMEM;
    kill_copies(&r);
    if (r.engine)
        interpreter.destroy(r.engine);
    free(r.batch);
    free(r.shared);
    free(r.fingerprint);
    if (code != 0)
        pass_result_free(result);
    return code;
}

void pass_result_free(struct pass_result *r)
{
    for (size_t i = 0; i < r->shared_count; i++)
        munmap(r->shared[i], r->shared_bytes[i]);
    free(r->shared);
    free(r->shared_bytes);
    free(r->measured);
    free(r->stretch);
    *r = (struct pass_result){0};
}
