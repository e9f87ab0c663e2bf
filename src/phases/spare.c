#include "phases/refine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/files.h"
#include "guest/process_copy.h"

/* The windows and their results, in memory that the spare shares with the run. */
struct request {
    struct error err;
    int code;       /* of the spare */
    bool served;    /* `code` and the results are final */
    uint64_t insns; /* of the spare's run */
    uint64_t lead, first_stretch, stretch;
    bool one_stretch;
    uint64_t window_insns, settled_warmup;
    size_t count;
    struct point point[REFINE_MOST];
    bool done[REFINE_MOST], strayed[REFINE_MOST];
    uint64_t number[]; /* by window, pass_result.numbers + 1 each: the last one is 0, for no second measurement */
};

struct spare {
    struct request *request;
    size_t bytes;
    size_t numbers; /* values of a window in request.number */
    int go;         /* write end of a pipe: the spare starts when it gets a byte, and ends when it is closed */
    int pid;
};

/* The spare: measures what is asked for. */
static void serve(struct process *p, const struct pass *pass, struct request *q, size_t numbers)
{
    struct points points = {.point = q->point,
                            .count = q->count,
                            .lead = q->lead,
                            .first_stretch = q->first_stretch,
                            .stretch = q->stretch,
                            .one_stretch = q->one_stretch && pass->save == NULL,
                            .insns = q->window_insns,
                            .settled_warmup = q->settled_warmup};
    struct pass second = {.points = &points, .simulation = pass->simulation, .jobs = pass->jobs, .saved = pass->save};
    struct pass_result r;
    q->code = pass_run(p, &second, &r, &q->err);
    if (q->code != 0)
        return;
    q->insns = r.insns;
    for (size_t i = 0; i < r.count; i++) {
        q->done[i] = r.measured[i].done;
        q->strayed[i] = r.measured[i].strayed;
        if (r.measured[i].done)
            memcpy(q->number + i * numbers, r.measured[i].number, (numbers - 1) * sizeof *q->number);
    }
}

/* The spare: waits for a byte, and serves. `code` says whether it became independent, q->err why not. */
static _Noreturn void wait_and_serve(struct process *p, const struct pass *pass, struct request *q, size_t numbers,
                                     int go, int code)
{
    char byte;
    ssize_t got;
    q->code = code;
    while ((got = read(go, &byte, 1)) < 0 && errno == EINTR)
        ;
    if (got == 1 && q->code == 0)
        serve(p, pass, q, numbers);
    q->served = true;
    _exit(0);
}

struct spare *spare_new(struct process *p, const struct pass *pass, struct error *err)
{
    struct spare *spare = calloc(1, sizeof *spare);
    int go[2], code = 0;
    if (spare == NULL || files_private_pipe(go) != 0) {
        free(spare);
        error_set(err, -EMFILE, "cannot make a pipe for a second pass");
        return NULL;
    }
    spare->numbers = SIMULATION_NUMBERS + (pass->simulation->sum ? pass->simulation->sum->count : 0) + 1;
    spare->bytes = sizeof *spare->request + REFINE_MOST * spare->numbers * sizeof(uint64_t);
    void *shared = mmap(NULL, spare->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    spare->go = go[1];
    spare->request = shared == MAP_FAILED ? NULL : shared;
    if (spare->request)
        spare->pid = process_fork_copy(p, &code, err);
    else
        spare->pid = error_set(err, -ENOMEM, "out of memory for a second pass");
    if (spare->pid == 0) {
        close(go[1]);
        spare->request->err = *err;
        wait_and_serve(p, pass, spare->request, spare->numbers, go[0], code);
    }
    close(go[0]);
    if (spare->pid > 0)
        return spare;
    spare_free(spare);
    return NULL;
}

/* Adds the measured windows to the result, which takes over the shared memory. */
static int add_results(struct spare *spare, struct pass_result *r)
{
    struct request *q = spare->request;
    struct measured *more = realloc(r->measured, (r->count + q->count) * sizeof *more);
    if (more)
        r->measured = more;
    uint64_t **shared = realloc(r->shared, (r->shared_count + 1) * sizeof *shared);
    if (shared)
        r->shared = shared;
    size_t *bytes = realloc(r->shared_bytes, (r->shared_count + 1) * sizeof *bytes);
    if (bytes)
        r->shared_bytes = bytes;
    if (more == NULL || shared == NULL || bytes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < q->count; i++)
        r->measured[r->count++] = (struct measured){.window = q->point[i].window,
                                                    .phase = q->point[i].phase,
                                                    .done = q->done[i],
                                                    .strayed = q->strayed[i],
                                                    .err = q->err,
                                                    .number = q->number + i * spare->numbers};
    r->shared[r->shared_count] = (uint64_t *)(void *)q;
    r->shared_bytes[r->shared_count++] = spare->bytes;
    spare->request = NULL;
    return 0;
}

int spare_measure(struct spare *spare, const struct points *points, struct pass_result *r, struct error *err)
{
    struct request *q = spare->request;
    int status;
    q->lead = points->lead;
    q->first_stretch = points->first_stretch;
    q->stretch = points->stretch;
    q->one_stretch = points->one_stretch;
    q->window_insns = points->insns;
    q->settled_warmup = points->settled_warmup;
    q->count = points->count;
    memcpy(q->point, points->point, points->count * sizeof *q->point);
    if (write(spare->go, "", 1) != 1)
        return error_set(err, -EPIPE, "the process that waited for it has ended");
    while (waitpid(spare->pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    spare->pid = 0;
    if (!q->served)
        return error_set(err, -EINTR, "the process that measured them was killed");
    if (q->code != 0)
        return error_set(err, q->code, "%s", q->err.text);
    uint64_t apart = q->insns > r->insns ? q->insns - r->insns : r->insns - q->insns;
    if (apart > points->insns) /* its windows may lie in other phases */
        return error_set(err, -ENOTSUP,
                         "the program runs differently a second time: it renames or makes files, or starts processes");
    return add_results(spare, r) == 0 ? 0 : error_set(err, -ENOMEM, "out of memory for estimates");
}

void spare_free(struct spare *spare)
{
    if (spare == NULL)
        return;
    if (spare->go >= 0)
        close(spare->go);
    if (spare->pid > 0)
        waitpid(spare->pid, NULL, __WALL);
    if (spare->request)
        munmap(spare->request, spare->bytes);
    free(spare);
}
