#include "phases/bbv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index_table.h"

int bbv_add(struct bbv_set *s, uint32_t block, uint64_t insns)
{
    struct bbv_entry *entry = array_room(s->entry, s->entry_count, &s->entry_room, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    s->entry = entry;
    s->entry[s->entry_count++] = (struct bbv_entry){block, insns};
    if (block >= s->blocks)
        s->blocks = block + 1;
    return 0;
}

static size_t first_new_entry(const struct bbv_set *s)
{
    return s->count ? s->vector[s->count - 1].first + s->vector[s->count - 1].count : 0;
}

int bbv_end(struct bbv_set *s)
{
    struct bbv *vector = array_room(s->vector, s->count, &s->room, sizeof *vector);
    if (vector == NULL)
        return -ENOMEM;
    s->vector = vector;
    struct bbv made = {.first = first_new_entry(s)};
    made.count = s->entry_count - made.first;
    for (size_t k = made.first; k < s->entry_count; k++)
        made.insns += s->entry[k].insns;
    s->vector[s->count++] = made;
    return 0;
}

void bbv_drop(struct bbv_set *s)
{
    s->entry_count = first_new_entry(s);
}

void bbv_free(struct bbv_set *s)
{
    for (size_t k = 0; k < s->map_count; k++)
        free(s->map[k].path);
    free(s->map);
    free(s->block);
    free(s->entry);
    free(s->vector);
    *s = (struct bbv_set){0};
}

/* ---- from a run */

struct profile {
    struct bbv_set *set;
    const struct guest_memory *memory;
    uint32_t blocks; /* that were noted: the engine numbers those that run */
    int code;        /* 0, or what went wrong while blocks were told */
};

static void add_told(void *context, uint32_t number, const struct basic_block *block, uint64_t insns)
{
    struct profile *profile = context;
    if (profile->code == 0 && number == profile->blocks)
        profile->code = bbv_note_block(profile->set, profile->memory, profile->blocks++, block);
    if (profile->code == 0)
        profile->code = bbv_add(profile->set, number, insns);
}

static void end_interval(struct profile *profile, struct engine_state *e)
{
    interpreter.block_counts(e, add_told, profile);
    if (profile->code == 0 && profile->set->count == BBV_MOST)
        profile->code = -E2BIG;
    if (profile->code == 0)
        profile->code = bbv_end(profile->set);
}

/* What is behind the last whole interval: too little would be no interval like the others. */
static void end_rest(struct profile *profile, struct engine_state *e, uint64_t insns)
{
    if (insns >= profile->set->interval - profile->set->interval / 2 || (profile->set->count == 0 && insns > 0))
        end_interval(profile, e);
}

static void run_counted(struct process *p, struct engine_state *e, struct profile *profile)
{
    uint64_t interval = profile->set->interval, left = interval;
    bool counted = true;
    for (struct thread *t; profile->code == 0 && (t = process_next(p)) != NULL;) {
        struct hart *h = thread_hart(t);
        if (counted && (uint64_t)h->quantum > left)
            h->quantum = (int64_t)left;
        interpreter.run(e, h);
        uint64_t done = (uint64_t)(h->quantum - h->budget);
        if (counted && (left -= done) == 0) {
            end_interval(profile, e);
            left = interval;
        }
        process_trap(p, t);
        if (counted && process_is_child(p)) {
            counted = false;
            interpreter.set_hooks(e, &(struct engine_hooks){.block = NULL});
        }
    }
    if (counted && profile->code == 0)
        end_rest(profile, e, interval - left);
}

int bbv_profile(struct process *p, uint64_t interval, struct bbv_set *s, struct error *err)
{
    struct engine_state *e = interpreter.create(process_memory(p), err);
    if (e == NULL)
        return -ENOMEM;
    struct profile profile = {.set = s, .memory = process_memory(p)};
    s->interval = interval;
    interpreter.set_hooks(e, &(struct engine_hooks){.count_blocks = true});
    run_counted(p, e, &profile);
    interpreter.destroy(e);
    s->insns = process_retired_insns(p);
    if (profile.code == -E2BIG)
        return error_set(err, profile.code, "more than %d intervals of %llu instructions: choose longer ones", BBV_MOST,
                         (unsigned long long)interval);
    return profile.code ? error_set(err, profile.code, "out of memory for basic block vectors") : 0;
}
