#include "phases/pass_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emulate/engine.h"
#include "guest/process_copy.h"

enum { POLL_MS = 2 }; /* pause between two looks at the rehearsal */

/* ---- the copy that rehearses */

static _Noreturn void rehearse(struct run *r, int code, struct error *err)
{
    struct rehearsal *to = r->rehearsal;
    if (code == 0)
        code = measure_beside(r, err);
    const char *spoiled = process_spoiled(r->process);
    if (code != 0)
        to->err = *err;
    else if (spoiled)
        error_set(&to->err, -ENOTSUP, "%s", spoiled);
    for (size_t i = 0; code == 0 && i < r->result->count; i++) {
        const struct measured *m = &r->result->measured[i];
        r->shared[i]->strayed = m->strayed;
        if (!m->done)
            r->shared[i]->err = m->err;
    }
    to->insns = process_retired_insns(r->process);
    to->finished = r->finished;
    to->ended = code == 0;
    _exit(0);
}

/* ---- the process that waits */

/* Takes the result of a window, and tells pass.done of it, once all its measurements are there. */
static void take_window(struct run *r, size_t i)
{
    const struct shared_result *from = r->shared[i];
    struct measured *m = &r->result->measured[i];
    if (m->kept)
        return;
    m->done = from->done;
    m->strayed = m->done && from->strayed;
    m->number = from->number;
    if (window_is_complete(r, i) && r->pass->done)
        r->pass->done(r->pass->context, i, m);
}

/* Takes the windows up to the first one that is not complete: they are measured about in the order of the run. */
static void take_complete_windows(struct run *r)
{
    while (r->reported < r->result->count &&
           (r->result->measured[r->reported].kept || window_is_complete(r, r->reported)))
        take_window(r, r->reported++);
}

/* Takes what the rehearsal has left behind. */
static void take_results(struct run *r, int status)
{
    struct pass_result *to = r->result;
    while (r->reported < to->count)
        take_window(r, r->reported++);
    for (size_t i = 0; i < to->count; i++) {
        struct measured *m = &to->measured[i];
        m->strayed = m->done && !m->kept && r->shared[i]->strayed;
        if (!m->done)
            m->err = r->shared[i]->err;
        if (!m->done && m->err.text[0] == '\0')
            error_set(&m->err, -EINTR, "its process ended with status %#x", (unsigned)status);
    }
    to->insns = r->rehearsal->insns;
    to->rehearsed = true;
    to->whole = r->rehearsal->ended && process_interruption(r->process) == 0;
}

/* Waits for the rehearsal, and kills it if the run is interrupted; the windows that were measured count. Returns the
 * status of its host process. */
static int wait_for_rehearsal(struct run *r, int pid)
{
    const struct pass *pass = r->pass;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG | __WALL) == 0) {
        if (process_interruption(r->process))
            kill(pid, SIGKILL);
        take_complete_windows(r);
        if (pass->progress)
            pass->progress(pass->context, r->rehearsal->insns, r->rehearsal->finished, r->result->count);
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
    return status;
}

int measure_beside_rehearsal(struct run *r, struct error *err)
{
    int copied = 0, pid = -ENOMEM;
    void *shared = mmap(NULL, sizeof *r->rehearsal, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || batches_make(r) != 0)
        return error_set(err, -ENOMEM, "out of memory for points");
    r->rehearsal = shared;
    for (size_t i = 0; i < r->batches; i++)
        batch_take_kept(r, &r->batch[i]);
    pid = process_fork_copy(r->process, &copied, err);
    if (pid == 0)
        rehearse(r, copied, err);
    int status = pid > 0 ? wait_for_rehearsal(r, pid) : 0;
    bool possible = r->rehearsal->err.text[0] == '\0' || process_interruption(r->process);
    if (pid > 0 && possible)
        take_results(r, status);
    munmap(shared, sizeof *r->rehearsal);
    r->rehearsal = NULL;
    return pid < 0 ? pid : possible ? 0 : 1;
}
