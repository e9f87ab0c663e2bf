/* gshare: two-bit counters indexed by pc and global history. The note is the history before the branch: `recover`
 * restores it, and `train` finds with it the counter that predicted. */
#include <stdlib.h>

#include "branch/branch.h"

bool gshare_init(struct gshare *g, const struct branch_config *c)
{
    g->history = 0;
    g->history_mask = (UINT64_C(1) << c->history_bits) - 1;
    g->shift = c->gshare_bits - c->history_bits;
    g->counters = counters_new(c->gshare_bits, COUNTER_WEAKLY_TAKEN);
    return g->counters != NULL;
}

static void *create(const struct branch_config *c)
{
    struct gshare *g = malloc(sizeof *g);
    if (g && !gshare_init(g, c)) {
        free(g);
        return NULL;
    }
    return g;
}

static void destroy(void *state)
{
    struct gshare *g = state;
    free(g->counters);
    free(g);
}

static void visit_state(void *state, state_visitor *visit, void *context)
{
    struct gshare *g = state;
    visit(context, &g->history, sizeof g->history);
    counters_visit(g->counters, visit, context);
}

static void mark(void *state, uint64_t *note)
{
    const struct gshare *g = state;
    note[0] = g->history;
}

static bool predict(void *state, uint64_t pc, bool backward, uint64_t *note)
{
    const struct gshare *g = state;
    (void)backward;
    note[0] = g->history;
    return counter_taken(*gshare_counter(g, pc, g->history));
}

static void speculate(void *state, uint64_t pc, bool taken)
{
    (void)pc;
    gshare_push(state, taken);
}

static void recover(void *state, const uint64_t *note)
{
    struct gshare *g = state;
    g->history = note[0];
}

static void train(void *state, uint64_t pc, bool taken, const uint64_t *note)
{
    counter_train(gshare_counter(state, pc, note[0]), taken);
}

const struct direction_predictor direction_gshare = {
    .name = "gshare",
    .help = "two-bit counters by address and global history",
    .create = create,
    .destroy = destroy,
    .visit = visit_state,
    .predict = predict,
    .speculate = speculate,
    .recover = recover,
    .train = train,
    .mark = mark,
};
