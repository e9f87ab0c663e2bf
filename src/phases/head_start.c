#include "phases/head_start.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/process_copy.h"
#include "phases/saved.h"

enum {
    UNITS_MOST = 1 << 17,
    SAVE_UNITS = 32, /* from one state to the next */
};

/* In memory that the copy shares with its parent. */
struct progress {
    bool stop;
    uint64_t units; /* that are complete */
    uint64_t count[UNITS_MOST][WARM_COUNTS];
};

struct head_start {
    struct progress *progress;
    struct saved_states *save;
    uint64_t head, unit_insns;
    int pid; /* 0: the copy has ended */
};

/* windows.warmed */
static void unit_warmed(void *context, uint64_t unit, const uint64_t grown[WARM_COUNTS])
{
    struct progress *to = ((struct head_start *)context)->progress;
    memcpy(to->count[unit], grown, sizeof to->count[unit]);
    to->units = unit + 1;
}

/* windows.save */
static int state_saved(void *context, uint64_t unit, const void *state, size_t bytes)
{
    struct head_start *h = context;
    return saved_write(h->save, 0, h->head + unit * h->unit_insns, 1, state, bytes);
}

static _Noreturn void warm(struct process *p, const struct simulation *s, struct head_start *h)
{
    struct error ignored;
    struct windows w = {.simulation = s,
                        .warmed = unit_warmed,
                        .from = h->head,
                        .to = h->head + UNITS_MOST * h->unit_insns,
                        .unit_insns = h->unit_insns,
                        .save = state_saved,
                        .save_units = SAVE_UNITS,
                        .stop = &h->progress->stop,
                        .context = h};
    _exit(simulate_windows(p, &w, &ignored) == 0 ? 0 : 1);
}

struct head_start *head_start_begin(struct process *p, const struct simulation *s, uint64_t head, uint64_t unit_insns,
                                    struct saved_states *save)
{
    struct head_start *h = malloc(sizeof *h);
    struct error ignored;
    int code = 0;
    void *shared =
        mmap(NULL, sizeof *h->progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (h == NULL || shared == MAP_FAILED) {
        free(h);
        return NULL;
    }
    *h = (struct head_start){.progress = shared, .save = save, .head = head, .unit_insns = unit_insns};
    h->pid = process_fork_copy(p, &code, &ignored);
    if (h->pid == 0 && code != 0)
        _exit(1);
    if (h->pid == 0)
        warm(p, s, h);
    if (h->pid > 0)
        return h;
    h->pid = 0;
    head_start_free(h);
    return NULL;
}

size_t head_start_end(struct head_start *h)
{
    int status = 1;
    __atomic_store_n(&h->progress->stop, true, __ATOMIC_RELAXED);
    while (h->pid && waitpid(h->pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    h->pid = 0;
    return status == 0 ? h->progress->units : 0;
}

const uint64_t (*head_start_units(const struct head_start *h))[WARM_COUNTS]
{
    return (const uint64_t(*)[WARM_COUNTS])h->progress->count;
}

void head_start_free(struct head_start *h)
{
    if (h == NULL)
        return;
    if (h->pid) {
        kill(h->pid, SIGKILL);
        waitpid(h->pid, NULL, __WALL);
    }
    munmap(h->progress, sizeof *h->progress);
    free(h);
}
