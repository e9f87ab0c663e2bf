/* Recording, mode oracle: no samples. Every event is charged to its instruction; cycles, and events that belong to no
 * instruction, to the instruction that the cycle was spent on. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/index_table.h"
#include "profile/recorder_priv.h"

/* Cycles between writes of the sums, so that little is lost if the recording is killed. */
enum { WRITE_CYCLES = 1 << 24 };

struct oracle {
    struct profile_sample *of; /* sum of one event at a place (pc, chain, address) since the last write */
    size_t count, room;
    struct index_table index;
    uint64_t written; /* cycle of the last write */
};

static bool same_place(const void *oracle, uint32_t i, const void *key)
{
    const struct profile_sample *a = &((const struct oracle *)oracle)->of[i], *b = key;
    return a->pc == b->pc && a->event == b->event && a->chain == b->chain && a->address == b->address;
}

/* The sum of the sample's event at its place; NULL: out of memory. */
static struct profile_sample *sum_of(struct oracle *o, const struct profile_sample *s)
{
    uint64_t hash = hash_number(hash_number(hash_number(hash_number(0, s->pc), s->event), s->chain), s->address);
    uint32_t i = index_table_find(&o->index, hash, same_place, o, s);
    if (i != INDEX_NONE)
        return &o->of[i];
    struct profile_sample *grown = array_grow(o->of, o->count, &o->room, sizeof *o->of);
    if (grown == NULL)
        return NULL;
    o->of = grown;
    if (index_table_add(&o->index, hash, (uint32_t)o->count) != 0)
        return NULL;
    o->of[o->count] = *s;
    o->of[o->count].weight = 0;
    return &o->of[o->count++];
}

static void counted(void *context, size_t event, uint64_t amount, const struct insn_view *v)
{
    struct recorder *r = context;
    struct profile_sample s = {.event = (uint32_t)event};
    recorder_describe(r, recorder_culprit(r, v), &s);
    s.outcome = 0; /* outcomes of single executions cannot be summed */
    s.flags &= PROFILE_HAS_ADDRESS | PROFILE_STORE;
    struct profile_sample *sum = sum_of(r->state, &s);
    if (sum)
        sum->weight += amount;
    else
        r->lost = true;
}

static void write_sums(struct recorder *r)
{
    struct oracle *o = r->state;
    for (size_t i = 0; i < o->count; i++) {
        if (o->of[i].weight)
            recorder_write(r, PROFILE_SAMPLE, &o->of[i]);
        o->of[i].weight = 0;
    }
    r->totals.samples = o->count;
    o->written = core_cycle(r->core);
}

static void cycle_ended(struct recorder *r)
{
    const struct oracle *o = r->state;
    if (core_cycle(r->core) - o->written >= WRITE_CYCLES)
        write_sums(r);
}

static int begin(struct recorder *r, const struct core_config *core, struct error *err)
{
    (void)core;
    r->state = calloc(1, sizeof(struct oracle));
    return r->state ? 0 : error_set(err, -ENOMEM, "out of memory for the oracle");
}

static void attached(struct recorder *r)
{
    struct oracle *o = r->state;
    o->written = core_cycle(r->core);
}

static void release(struct recorder *r)
{
    struct oracle *o = r->state;
    if (o) {
        free(o->of);
        index_table_free(&o->index);
    }
    free(o);
}

const struct recorder_mode recorder_mode_oracle = {.begin = begin,
                                                   .counted = counted,
                                                   .attached = attached,
                                                   .cycle_ended = cycle_ended,
                                                   .ended = write_sums,
                                                   .free = release};
