/* bimodal: two-bit counters indexed by pc (Smith 1981). It has no history, so there is nothing to recover. */
#include <stdlib.h>
#include <string.h>

#include "branch/branch.h"

struct counters *counters_new(unsigned bits, uint8_t initial)
{
    size_t count = (size_t)1 << bits;
    struct counters *c = malloc(sizeof *c + count);
    if (!c)
        return NULL;
    c->mask = count - 1;
    memset(c->counter, initial, count);
    return c;
}

void counters_visit(void *counters, state_visitor *visit, void *context)
{
    struct counters *c = counters;
    visit(context, c->counter, c->mask + 1);
}

static void *create(const struct branch_config *c)
{
    return counters_new(c->bimodal_bits, COUNTER_WEAKLY_TAKEN);
}

static bool predict(void *state, uint64_t pc, bool backward, uint64_t *note)
{
    (void)backward;
    (void)note;
    return counter_taken(*counters_by_pc(state, pc));
}

static void train(void *state, uint64_t pc, bool taken, const uint64_t *note)
{
    (void)note;
    counter_train(counters_by_pc(state, pc), taken);
}

const struct direction_predictor direction_bimodal = {
    .name = "bimodal",
    .help = "two-bit counters by address",
    .create = create,
    .destroy = free,
    .visit = counters_visit,
    .predict = predict,
    .train = train,
};
