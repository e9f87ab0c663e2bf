#include "phases/pass_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "phases/head_start.h"

enum { BATCH_MOST = 1024 }; /* most windows of a batch */

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

/* The instruction up to which there is a head start; 0: there is none. */
static uint64_t begun_to(const struct run *r)
{
    const struct pass *p = r->pass;
    return p->begun && p->begun_units ? p->points->head + p->begun_units * p->points->insns : 0;
}

/* Lets the batch begin with the last saved state at or before `insn`. Returns whether there is one. */
static bool begin_at_state(const struct run *r, struct batch *b, uint64_t insn)
{
    uint32_t state = saved_before(states_of(r->pass), &insn, &b->from_stretch);
    b->warm = state != SAVED_NONE;
    if (b->warm) {
        b->begin = insn;
        b->state = state;
    }
    return b->warm;
}

static bool is_settled(const struct points *p, size_t i)
{
    return p->point && p->point[i].settled;
}

/* Makes batches of windows that are warm from saved states on: consecutive ones with the same last state before them
 * are one batch, but for settled ones. */
static int join_at_states(struct run *r, size_t first, size_t last)
{
    const struct points *p = r->pass->points;
    const uint64_t usual = r->pass->simulation->warmup_insns;
    struct batch b = {.count = 0};
    int code = 0;
    for (size_t i = first; code == 0 && i < last; i++) {
        struct batch next = {.first = i, .count = 1, .settled = is_settled(p, i)};
        uint64_t start = r->result->measured[i].window.start;
        uint64_t warmup = next.settled ? p->settled_warmup : points_twice(p, i) ? SECOND_WARMUPS * usual : usual;
        if (!begin_at_state(r, &next, begin_before(start, 0, warmup)))
            next.begin = begin_before(start, p->lead, warmup);
        bool same = b.warm && next.warm && b.from_stretch == next.from_stretch && b.state == next.state;
        if (b.count && b.count < BATCH_MOST && same && !b.settled && !next.settled) {
            b.count++;
            continue;
        }
        code = b.count ? add_batch(r, &b) : 0;
        b = next;
    }
    return code == 0 && b.count ? add_batch(r, &b) : code;
}

/* Adds a stretch of units to the result, in order. Returns the memory for their counts; NULL: out of memory. */
static uint64_t (*add_units(struct run *r, size_t first, size_t count))[WARM_COUNTS]
{
    struct pass_result *result = r->result;
    uint64_t(*counts)[WARM_COUNTS] = allocate_shared(r, count * sizeof *counts);
    struct unit_counts *more = realloc(result->stretch, (result->stretches + 1) * sizeof *more);
    if (more)
        result->stretch = more;
    if (more == NULL || counts == NULL)
        return NULL;
    result->stretch[result->stretches++] =
        (struct unit_counts){.first = first, .count = count, .of = (const uint64_t(*)[WARM_COUNTS])counts};
    return counts;
}

/* Adds a batch that warms this whole stretch and counts in its units. `first` and `count` are its windows. */
static int add_counted(struct run *r, size_t first, size_t count, uint64_t from, uint64_t to)
{
    const struct points *p = r->pass->points;
    uint64_t(*counts)[WARM_COUNTS] = add_units(r, (from - p->head) / p->insns, (to - from) / p->insns);
    if (counts == NULL)
        return -ENOMEM;
    uint64_t warmup = SECOND_WARMUPS * r->pass->simulation->warmup_insns;
    struct batch b = {.first = first, .count = count, .from = from, .to = to, .units = counts};
    b.stretch = (unsigned)r->result->stretches - 1;
    b.begin = begin_before(from, p->lead, warmup);
    if (from == begun_to(r))
        begin_at_state(r, &b, from);
    return add_batch(r, &b);
}

/* Adds the first stretch of a run with a head start: what that has warmed has no batch, its windows and those just
 * behind it are measured from its states, and a batch goes on from its last one. */
static int add_first(struct run *r, size_t first, size_t count, uint64_t from, uint64_t to)
{
    const struct pass *pass = r->pass;
    struct pass_result *result = r->result;
    uint64_t at = begun_to(r), behind = at + SECOND_WARMUPS * pass->simulation->warmup_insns;
    size_t last = first;
    if (at <= from || at >= to)
        return add_counted(r, first, count, from, to);
    uint64_t(*counts)[WARM_COUNTS] = add_units(r, 0, pass->begun_units);
    if (counts == NULL)
        return -ENOMEM;
    memcpy(counts, head_start_units(pass->begun), pass->begun_units * sizeof *counts);
    while (last < first + count && result->measured[last].window.start < behind)
        last++;
    int code = join_at_states(r, first, last);
    return code == 0 ? add_counted(r, last, first + count - last, at, to) : code;
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
    if (head)
        return add_head(r);
    return add_first(r, first, (size_t)count, from, from + (uint64_t)count * p->period);
}

static int by_begin(const void *a, const void *b)
{
    const struct batch *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

bool batch_measures_twice(const struct run *r, const struct batch *b, size_t i)
{
    const struct points *p = r->pass->points;
    uint64_t warmup = SECOND_WARMUPS * r->pass->simulation->warmup_insns;
    if (b->second || !points_twice(p, i))
        return false;
    return b->to || b->warm || b->begin <= begin_before(p->point[i].window.start, p->second_lead, warmup);
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
        code = add_first(r, first, last - first, from, to);
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
            if (p->point[k].twice && !batch_measures_twice(r, &b, k))
                code = add_batch(r, &again);
        }
    }
    return code;
}

/* Makes the batches of a systematic sample of a run of known length. */
static int add_stretches(struct run *r)
{
    const struct points *p = r->pass->points;
    int code = add_stretch(r);
    while (code == 0 && p->head + (r->result->count - (p->head > 0)) * p->period < p->covered)
        code = add_stretch(r);
    return code;
}

int batches_make(struct run *r)
{
    const struct points *p = r->pass->points;
    if (p->period)
        return p->covered ? add_stretches(r) : 0;
    int code = add_windows(r, p->count) < 0 ? -ENOMEM : 0;
    if (code == 0)
        code = p->covered ? cover_run(r) : r->pass->saved ? join_at_states(r, 0, p->count) : join_points(r);
    if (code == 0)
        qsort(r->batch, r->batches, sizeof *r->batch, by_begin);
    return code;
}

struct batch *batches_next(struct run *r, int *code)
{
    const struct points *p = r->pass->points;
    *code = p->period && p->covered == 0 && r->started == r->batches ? add_stretch(r) : 0;
    return *code == 0 && r->started < r->batches ? &r->batch[r->started++] : NULL;
}
