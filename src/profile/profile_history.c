#include "profile/profile_history.h"

#include <errno.h>
#include <stdlib.h>

static const char *const outcome_names[PROFILE_OUTCOME_BITS] = {
    "l1i_miss", "l2i_miss", "itlb_miss", "l1d_miss", "l2d_miss", "dtlb_miss", "forwarded", "rejected", "misfetched"};
static const char *const stage_names[PROFILE_STAGES] = {"fetch_to_dispatch", "dispatch_to_issue", "issue_to_complete",
                                                        "complete_to_retire"};

/* ---- adding up */

static void add(struct profile_history *to, const struct profile_history *h)
{
    to->samples += h->samples;
    to->retired += h->retired;
    to->mispredicted += h->mispredicted;
    to->retired_mispredicted += h->retired_mispredicted;
    for (unsigned i = 0; i < PROFILE_OUTCOME_BITS; i++) {
        to->outcome[i] += h->outcome[i];
        to->retired_outcome[i] += h->retired_outcome[i];
    }
    for (unsigned i = 0; i < PROFILE_STAGES; i++)
        to->latency_cycles[i] += h->latency_cycles[i];
    to->pairs += h->pairs;
    to->slots += h->slots;
}

static int by_pc(const void *left, const void *right)
{
    const struct profile_history *a = left, *b = right;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

int history_table_make(struct history_table *t, const struct profile *p, unsigned first, unsigned last,
                       struct error *err)
{
    *t = (struct history_table){.of = calloc(p->histories + 1, sizeof *t->of)};
    if (t->of == NULL)
        return error_set(err, -ENOMEM, "out of memory for the histories of a profile");
    for (size_t i = 0; i < p->histories; i++)
        if (p->history[i].event >= first && p->history[i].event <= last)
            t->of[t->count++] = p->history[i];
    qsort(t->of, t->count, sizeof *t->of, by_pc);
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        add(&t->all, &t->of[i]);
        if (kept && t->of[kept - 1].pc == t->of[i].pc)
            add(&t->of[kept - 1], &t->of[i]);
        else
            t->of[kept++] = t->of[i];
    }
    t->count = kept;
    return 0;
}

void history_table_free(struct history_table *t)
{
    free(t->of);
    *t = (struct history_table){0};
}

const struct profile_history *history_table_find(const struct history_table *t, uint64_t pc)
{
    const struct profile_history key = {.pc = pc};
    return t->count ? bsearch(&key, t->of, t->count, sizeof *t->of, by_pc) : NULL;
}

/* ---- JSON */

static json_t *mean(uint64_t sum, uint64_t n)
{
    return n ? json_real((double)sum / (double)n) : json_null();
}

json_t *history_json(const struct profile_history *h)
{
    json_t *object = json_object(), *cycles = json_object(), *outcomes = json_object(), *retired = json_object();
    for (unsigned i = 0; i < PROFILE_STAGES; i++)
        json_object_set_new(cycles, stage_names[i], mean(h->latency_cycles[i], h->retired));
    for (unsigned i = 0; i < PROFILE_OUTCOME_BITS; i++)
        json_object_set_new(outcomes, outcome_names[i], mean(h->outcome[i], h->samples));
    for (unsigned i = 0; i < PROFILE_OUTCOME_BITS; i++)
        json_object_set_new(retired, outcome_names[i], json_integer((json_int_t)h->retired_outcome[i]));
    json_object_set_new(retired, "mispredicted", json_integer((json_int_t)h->retired_mispredicted));
    json_object_set_new(object, "samples", json_integer((json_int_t)h->samples));
    json_object_set_new(object, "cycles", cycles);
    json_object_set_new(object, "retired", mean(h->retired, h->samples));
    json_object_set_new(object, "outcomes", outcomes);
    json_object_set_new(object, "mispredicted", mean(h->mispredicted, h->samples));
    json_object_set_new(object, "retired_samples", retired);
    json_object_set_new(object, "pairs", json_integer((json_int_t)h->pairs));
    json_object_set_new(object, "wasted_issue_slots", mean(h->slots, h->pairs));
    return object;
}
