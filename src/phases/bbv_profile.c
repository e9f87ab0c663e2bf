/* Basic block vectors and the fine signal of a run, from one pass of the interpreter.
 *
 * The engine stops wherever an interval of the vectors or of the fine signal ends, and reports what ran since the last
 * stop. Counts of a vector are added up by block until its interval ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "phases/bbv.h"
#include "phases/fine_signal.h"

enum {
    WORD = 64,           /* bits in a word of the bitmap `live` */
    CHOSEN_FIRST = 1000, /* without a given interval: instructions of the first intervals */
    CHOSEN_MOST = 1000,  /* without a given interval: number of vectors at which intervals become longer */
};

struct work {
    uint64_t insns, entries;
};

struct profiling {
    struct bbv_set *set;
    struct fine_signal *fine; /* NULL: not wanted */
    const struct guest_memory *memory;
    bool chosen;       /* the interval grows with the run */
    uint32_t blocks;   /* blocks added to the set; the interpreter numbers them in the order of execution */
    uint64_t left;     /* instructions until the vector in progress ends */
    struct work *work; /* of the vector in progress, by block */
    uint64_t *live;    /* bitmap by block: `work` is not 0 */
    size_t work_count, work_room, live_count, live_room;
    int code;                                        /* first error in a callback; 0: none */
    void (*progress)(void *context, uint64_t insns); /* NULL: not wanted */
    void *context;                                   /* of `progress` */
};

/* ---- vectors */

static int make_room(struct profiling *profile, uint32_t block)
{
    while (profile->work_count <= block) {
        struct work *work = array_grow(profile->work, profile->work_count, &profile->work_room, sizeof *work);
        if (work == NULL)
            return -ENOMEM;
        profile->work = work;
        profile->work[profile->work_count++] = (struct work){0};
    }
    while (profile->live_count <= block / WORD) {
        uint64_t *live = array_grow(profile->live, profile->live_count, &profile->live_room, sizeof *live);
        if (live == NULL)
            return -ENOMEM;
        profile->live = live;
        profile->live[profile->live_count++] = 0;
    }
    return 0;
}

static void add_work(struct profiling *profile, uint32_t block, uint64_t insns, uint64_t entries)
{
    profile->work[block].insns += insns;
    profile->work[block].entries += entries;
    profile->live[block / WORD] |= UINT64_C(1) << block % WORD;
}

/* Moves what was added up into the set, as one vector. */
static int flush(struct profiling *profile)
{
    int code = 0;
    for (size_t word = 0; word < profile->live_count; word++)
        for (; profile->live[word]; profile->live[word] &= profile->live[word] - 1) {
            uint32_t block = (uint32_t)word * WORD + (uint32_t)__builtin_ctzll(profile->live[word]);
            struct work *work = &profile->work[block];
            if (code == 0)
                code = bbv_add_entered(profile->set, block, work->insns, work->entries);
            *work = (struct work){0};
        }
    return code ? code : bbv_end(profile->set);
}

/* Makes intervals longer: 1, 2, 10, 20, 100, 200 ... times as long as the first. Vectors are added up in place: a sum
 * has no more entries than its parts. */
static int lengthen(struct profiling *profile)
{
    struct bbv_set *s = profile->set;
    uint64_t digit = s->interval;
    while (digit % 10 == 0)
        digit /= 10;
    unsigned times = digit == 1 ? 2 : 5;
    size_t vectors = s->count, first = 0;
    s->entry_count = s->count = 0;
    for (size_t k = 0; k < vectors; first = k) {
        size_t end = first + times < vectors ? first + times : vectors;
        for (; k < end; k++)
            for (size_t i = s->vector[k].first; i < s->vector[k].first + s->vector[k].count; i++)
                add_work(profile, s->entry[i].block, s->entry[i].insns, (uint64_t)s->entry[i].entries);
        int code = flush(profile);
        if (code)
            return code;
    }
    s->interval *= times;
    return 0;
}

static void end_vector(struct profiling *profile)
{
    if (profile->code == 0 && profile->set->count == BBV_MOST)
        profile->code = -E2BIG;
    if (profile->code == 0)
        profile->code = flush(profile);
    if (profile->code == 0 && profile->chosen && profile->set->count == CHOSEN_MOST)
        profile->code = lengthen(profile);
    profile->left = profile->set->interval;
}

/* ---- the run */

/* Callback of block_counts: adds to the vector and to the fine signal, and adds the block itself when it appears for
 * the first time. */
static void add_block(void *context, uint32_t number, const struct basic_block *block, uint64_t insns, uint64_t entries)
{
    struct profiling *profile = context;
    if (profile->code == 0 && number == profile->blocks)
        profile->code = bbv_note_block(profile->set, profile->memory, profile->blocks++, block);
    if (profile->code == 0 && number >= profile->work_count)
        profile->code = make_room(profile, number);
    if (profile->code != 0)
        return;
    add_work(profile, number, insns, entries);
    if (profile->fine)
        profile->code = fine_signal_add(profile->fine, number, insns, entries);
}

static uint64_t next_stop(const struct profiling *profile)
{
    uint64_t fine = profile->fine ? fine_signal_left(profile->fine) : UINT64_MAX;
    return fine < profile->left ? fine : profile->left;
}

/* Collects what ran since the last stop: `insns` instructions. */
static void stop(struct profiling *profile, struct engine_state *e, uint64_t insns)
{
    interpreter.block_counts(e, add_block, profile);
    if (profile->code == 0 && profile->fine)
        profile->code = fine_signal_pass(profile->fine, insns);
    profile->left -= insns;
    if (profile->left == 0)
        end_vector(profile);
}

/* The instructions after the last complete interval make a vector if they are at least half an interval. A shorter one
 * would not be comparable with others. */
static void end_run(struct profiling *profile, struct engine_state *e, uint64_t insns)
{
    stop(profile, e, insns);
    uint64_t interval = profile->set->interval, rest = interval - profile->left;
    if (rest >= interval - interval / 2 || (profile->set->count == 0 && rest > 0))
        end_vector(profile);
    if (profile->fine)
        fine_signal_end(profile->fine);
}

/* Runs to the end of the process. A child that the guest forks continues uncounted. */
static void run_counted(struct process *p, struct engine_state *e, struct profiling *profile)
{
    uint64_t due = next_stop(profile), ran = 0;
    bool counted = true;
    for (struct thread *t; profile->code == 0 && (t = process_next(p)) != NULL;) {
        struct hart *h = thread_hart(t);
        if (counted && (uint64_t)h->quantum > due - ran)
            h->quantum = (int64_t)(due - ran);
        interpreter.run(e, h);
        ran += (uint64_t)(h->quantum - h->budget);
        if (counted && ran == due) {
            stop(profile, e, ran);
            due = next_stop(profile);
            ran = 0;
        }
        process_trap(p, t);
        if (counted && profile->progress && !process_is_child(p))
            profile->progress(profile->context, process_retired_insns(p));
        if (counted && process_is_child(p)) {
            counted = false;
            interpreter.set_hooks(e, &(struct engine_hooks){.block = NULL});
        }
    }
    if (counted && profile->code == 0)
        end_run(profile, e, ran);
}

int bbv_profile_with(struct process *p, uint64_t interval, struct bbv_set *s, struct fine_signal *fine,
                     void (*progress)(void *context, uint64_t insns), void *context, struct error *err)
{
    struct engine_state *e = interpreter.create(process_memory(p), err);
    if (e == NULL)
        return -ENOMEM;
    s->interval = interval ? interval : CHOSEN_FIRST;
    struct profiling profile = {.set = s,
                                .fine = fine,
                                .memory = process_memory(p),
                                .chosen = interval == 0,
                                .left = s->interval,
                                .progress = progress,
                                .context = context};
    interpreter.set_hooks(e, &(struct engine_hooks){.count_blocks = true});
    run_counted(p, e, &profile);
    interpreter.destroy(e);
    free(profile.work);
    free(profile.live);
    s->insns = process_retired_insns(p);
    if (profile.code == -E2BIG)
        return error_set(err, profile.code, "more than %d intervals of %llu instructions: choose longer ones", BBV_MOST,
                         (unsigned long long)interval);
    return profile.code ? error_set(err, profile.code, "out of memory for basic block vectors") : 0;
}

int bbv_profile(struct process *p, uint64_t interval, struct bbv_set *s, struct error *err)
{
    return bbv_profile_with(p, interval, s, NULL, NULL, NULL, err);
}
