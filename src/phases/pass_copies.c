#include "phases/pass_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulate/engine.h"
#include "guest/process_copy.h"

enum { STATES_OF_A_RUN = 1000, UNITS_LEAST = 8 }; /* states that are saved, about; least units between two of them */

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

/* windows.save: keeps the warm state for a second pass. */
static int state_saved(void *context, uint64_t unit, const void *state, size_t bytes)
{
    const struct copy *c = context;
    const struct batch *b = c->batch;
    uint64_t passed = unit * c->run->pass->points->insns;
    return saved_write(c->run->pass->save, b->stretch, b->from + passed, (double)passed / (double)(b->to - b->from),
                       state, bytes);
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
        to->twice[to->count++] = batch_measures_twice(r, b, i);
    }
    return 0;
}

/* Units from one saved state to the next. Nearer ones would take more time to save than they save warming. */
static uint64_t units_between_states(const struct points *p)
{
    uint64_t units = p->covered / p->insns / STATES_OF_A_RUN;
    return units < UNITS_LEAST ? UNITS_LEAST : units;
}

/* The host process of a copy: measures. `code` and `err` say whether it became independent. */
static _Noreturn void run_copy(const struct run *r, const struct batch *b, int code, struct error *err)
{
    struct copy_windows list;
    struct simulation simulation = *r->pass->simulation;
    if (list_windows(r, b, &list) != 0)
        code = error_set(err, -ENOMEM, "out of memory");
    struct copy c = {r, b, list.number};
    interpreter.destroy(r->engine);
    struct windows w = {.simulation = &simulation,
                        .window = list.window,
                        .count = list.count,
                        .twice = list.twice,
                        .second_warmup_insns = SECOND_WARMUPS * simulation.warmup_insns,
                        .beside = r->pass->points->one_stretch ? r->pass->jobs - 1 : 0,
                        .measured = window_measured,
                        .context = &c};
    if (b->second)
        simulation.warmup_insns = w.second_warmup_insns;
    if (b->settled)
        simulation.warmup_insns = r->pass->points->settled_warmup;
    if (b->to) {
        w.warmed = unit_warmed;
        w.unit_insns = r->pass->points->insns;
        w.from = b->from;
        w.to = b->to;
        w.save = r->pass->save ? state_saved : NULL;
        w.save_units = units_between_states(r->pass->points);
    }
    if (b->warm) {
        w.state = r->reader.state;
        w.state_bytes = r->reader.bytes;
    }
    if (code == 0)
        code = simulate_windows(r->process, &w, err);
    if (code != 0)
        fail_all(r, b, err);
    _exit(0);
}

int copy_begin(struct run *r, struct batch *b, struct error *err)
{
    int code = b->warm ? saved_read(states_of(r->pass), &r->reader, b->from_stretch, b->state) : 0;
    if (code != 0)
        return error_set(err, code, "cannot read a saved state of caches and predictors");
    int pid = process_fork_copy(r->process, &code, err);
    if (pid == 0)
        run_copy(r, b, code, err);
    b->pid = pid > 0 ? pid : 0;
    r->copies += pid > 0;
    return pid > 0 ? 0 : pid;
}

/* ---- results of copies */

bool window_is_complete(const struct run *r, size_t i)
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
        if (window_is_complete(r, i) && r->pass->done && r->rehearsal == NULL)
            r->pass->done(r->pass->context, i, m);
    }
}

void copies_reap(struct run *r)
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

void copies_kill(struct run *r)
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
