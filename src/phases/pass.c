#include "phases/pass_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "emulate/engine.h"
#include "guest/host_process.h"
#include "guest/process_copy.h"

enum { POLL_US = 500 };                   /* pause between two checks for copies that have ended */
#define PROGRESS_INSNS UINT64_C(20000000) /* instructions of the run between two reports of progress */

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
    if (r->stretches == 0)
        return 0;
    const struct unit_counts *last = &r->stretch[r->stretches - 1];
    return last->first + last->count;
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

const struct saved_states *states_of(const struct pass *p)
{
    return p->saved ? p->saved : p->save;
}

/* ---- waiting for copies */

static void report_progress(const struct run *r)
{
    if (r->rehearsal) {
        r->rehearsal->insns = process_retired_insns(r->process);
        r->rehearsal->finished = r->finished;
    } else if (r->pass->progress)
        r->pass->progress(r->pass->context, process_retired_insns(r->process), r->finished, r->result->count);
}

/* Waits until at most `most` copies run, or until the run is interrupted. */
static void wait_for_copies(struct run *r, unsigned most)
{
    copies_reap(r);
    while (r->copies > most && process_interruption(r->process) == 0) {
        report_progress(r);
        nanosleep(&(struct timespec){.tv_nsec = POLL_US * 1000L}, NULL);
        copies_reap(r);
    }
}

bool batch_take_kept(struct run *r, const struct batch *b)
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
        copies_reap(r);
        report_progress(r);
    }
}

/* Starts a copy for the batch, unless all its windows are kept. Waits while `jobs` copies run. Returns 0, 1 if the
 * program was interrupted and has ended, or a negative code. */
static int begin_batch(struct run *r, struct batch *b, struct error *err)
{
    if (batch_take_kept(r, b))
        return 0;
    const bool quick = b->warm && b->to == 0 && r->pass->saved == NULL; /* behind a head start, beside long stretches */
    const unsigned most = r->pass->jobs - !quick;
    wait_for_copies(r, most);
    if (process_interruption(r->process) && !run_to(r, process_retired_insns(r->process) + 1))
        return 1;
    while (r->copies > most) { /* the program handled the interruption: it goes on */
        nanosleep(&(struct timespec){.tv_nsec = POLL_US * 1000L}, NULL);
        copies_reap(r);
    }
    return copy_begin(r, b, err);
}

int measure_beside(struct run *r, struct error *err)
{
    int code = r->batches ? 0 : batches_make(r);
    while (code == 0) {
        struct batch *b = batches_next(r, &code);
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
    copies_kill(r); /* of an interrupted run; the windows that they have measured count */
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
    int code = r.engine == NULL ? -ENOMEM : pass->rehearse ? measure_beside_rehearsal(&r, err) : 1;
    if (code > 0)
        code = measure_beside(&r, err);
    copies_kill(&r);
    if (r.engine)
        interpreter.destroy(r.engine);
    saved_reader_free(&r.reader);
    free(r.batch);
    free(r.shared);
    free(r.fingerprint);
    if (code != 0)
        pass_result_free(result);
    return code;
}

int pass_finish(struct process *p, const struct pass *pass, struct pass_result *result, struct error *err)
{
    struct run r = {.process = p, .pass = pass, .result = result, .passed = result->count, .finished = result->count};
    if (!result->rehearsed)
        return 0;
    r.engine = interpreter.create(process_memory(p), err);
    if (r.engine == NULL)
        return -ENOMEM;
    run_with_stops(&r, UINT64_MAX);
    interpreter.destroy(r.engine);
    uint64_t insns = process_retired_insns(p),
             apart = insns > result->insns ? insns - result->insns : result->insns - insns;
    bool differs = process_interruption(p) == 0 && apart > pass->points->insns;
    for (size_t i = 0; differs && i < result->count; i++)
        result->measured[i].strayed = result->measured[i].done;
    if (process_interruption(p) == 0)
        result->insns = insns;
    return 0;
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
