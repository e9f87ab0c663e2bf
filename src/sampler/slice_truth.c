#include "sampler/slice_truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/machine_pmu.h"
#include "pmu/pmu.h"

struct slice_truth {
    struct event_specs specs; /* events of the plan, then cycles in user mode */
    struct pmu *pmu;
    struct core_observer observer;
    uint64_t *ends;      /* rows of counter values at the ends of slices that were not fetched yet */
    size_t first, count; /* rows in use */
    size_t room;         /* rows allocated */
    uint64_t *last;      /* counter values at the end of the slice that was fetched last */
    uint64_t *slice;     /* counts of the slice that was fetched last */
    bool failed;         /* memory ran out */
};

static size_t row_bytes(const struct slice_truth *t)
{
    return t->specs.count * sizeof *t->ends;
}

static uint64_t *row(const struct slice_truth *t, size_t i)
{
    return t->ends + (t->first + i) * t->specs.count;
}

/* Makes room for one more row: moves the rows to the front, and grows unless fewer than half are in use then. */
static bool make_room(struct slice_truth *t)
{
    if (t->first + t->count < t->room)
        return true;
    if (t->first > 0) {
        memmove(t->ends, row(t, 0), t->count * row_bytes(t));
        t->first = 0;
        if (t->count < t->room / 2)
            return true;
    }
    size_t more = t->room ? 2 * t->room : 64;
    uint64_t *ends = reallocarray(t->ends, more, row_bytes(t));
    if (ends == NULL)
        return false;
    t->ends = ends;
    t->room = more;
    return true;
}

static void read_values(const struct slice_truth *t, uint64_t *to)
{
    for (size_t i = 0; i < t->specs.count; i++)
        to[i] = pmu_value(t->pmu, i);
}

/* ---- the observer */

/* core_observer.mode: calls the PMU's observer first. A slice ends when the core enters machine mode and the program
 * has run since the last slice. The program has not run when the sampler starts. */
static void on_mode(void *context, bool machine)
{
    struct slice_truth *t = pmu_owner(context);
    pmu_observer(t->pmu)->mode(context, machine);
    size_t cycles = t->specs.count - 1;
    const uint64_t *before = t->count ? row(t, t->count - 1) : t->last;
    if (!machine || pmu_value(t->pmu, cycles) == before[cycles])
        return;
    if (!make_room(t)) {
        t->failed = true;
        return;
    }
    read_values(t, row(t, t->count++));
}

const struct core_observer *slice_truth_observer(struct slice_truth *t)
{
    t->observer = *pmu_observer(t->pmu);
    t->observer.mode = on_mode;
    return &t->observer;
}

/* ---- counts */

/* Without a recorded end, the slice ends now: it is the last one of the run. */
const uint64_t *slice_truth_next(struct slice_truth *t)
{
    uint64_t *now = t->slice;
    if (t->count) {
        memcpy(now, row(t, 0), row_bytes(t));
        t->first++;
        t->count--;
    } else {
        read_values(t, now);
    }
    for (size_t i = 0; i < t->specs.count; i++) {
        uint64_t end = now[i];
        now[i] = end - t->last[i];
        t->last[i] = end;
    }
    return now;
}

bool slice_truth_failed(const struct slice_truth *t)
{
    return t->failed;
}

/* ---- creation */

struct slice_truth *slice_truth_new(const struct plan *plan, struct error *err)
{
    struct slice_truth *t = calloc(1, sizeof *t);
    size_t count = plan->event_count + 1;
    if (t) {
        t->specs.of = calloc(count, sizeof *t->specs.of);
        t->last = calloc(count, sizeof *t->last);
        t->slice = calloc(count, sizeof *t->slice);
    }
    if (t == NULL || t->specs.of == NULL || t->last == NULL || t->slice == NULL) {
        error_set(err, -ENOMEM, "out of memory for full counts");
        slice_truth_free(t);
        return NULL;
    }
    t->specs.count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t code = i < plan->event_count ? plan->event[i].code : plan_clock_code(CLOCK_CYCLES);
        event_decode(code, &t->specs.of[i]);
        t->specs.of[i].text =
            (char *)(uintptr_t) "full count"; /* never freed: slice_truth_free does not call event_specs_free */
    }
    t->pmu = pmu_new(&t->specs, NULL, t, err);
    if (t->pmu == NULL) {
        slice_truth_free(t);
        return NULL;
    }
    return t;
}

void slice_truth_free(struct slice_truth *t)
{
    if (t == NULL)
        return;
    pmu_free(t->pmu);
    free(t->specs.of);
    free(t->ends);
    free(t->last);
    free(t->slice);
    free(t);
}
