/* hybrid: bimodal and gshare in parallel, and choosers indexed by pc that select one of the two predictions (McFarling
 * 1993).
 *
 * Both parts learn from every branch. A chooser learns when the two predictions differed. It uses the predictions made
 * at fetch, because it chose between those; the counters may have changed by retirement. */
#include <stdlib.h>

#include "branch/branch.h"

static void destroy(void *state)
{
    struct hybrid *h = state;
    free(h->gshare.counters);
    free(h->bimodal);
    free(h->choosers);
    free(h);
}

static void visit_state(void *state, state_visitor *visit, void *context)
{
    struct hybrid *h = state;
    visit(context, &h->gshare.history, sizeof h->gshare.history);
    counters_visit(h->gshare.counters, visit, context);
    counters_visit(h->bimodal, visit, context);
    counters_visit(h->choosers, visit, context);
}

static void *create(const struct branch_config *c)
{
    struct hybrid *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->bimodal = counters_new(c->bimodal_bits, COUNTER_WEAKLY_TAKEN);
    /* Start with bimodal, which learns a new branch sooner. */
    h->choosers = counters_new(c->chooser_bits, COUNTER_WEAKLY_NOT);
    if (!gshare_init(&h->gshare, c) || !h->bimodal || !h->choosers) {
        destroy(h);
        return NULL;
    }
    return h;
}

static void mark(void *state, uint64_t *note)
{
    const struct hybrid *h = state;
    note[0] = h->gshare.history;
}

static bool predict(void *state, uint64_t pc, bool backward, uint64_t *note)
{
    (void)backward;
    struct hybrid_view v = hybrid_open(state);
    return hybrid_predict(&v, pc, note);
}

static void speculate(void *state, uint64_t pc, bool taken)
{
    struct hybrid *h = state;
    (void)pc;
    gshare_push(&h->gshare, taken);
}

static void recover(void *state, const uint64_t *note)
{
    struct hybrid *h = state;
    h->gshare.history = note[0] & h->gshare.history_mask;
}

static void train(void *state, uint64_t pc, bool taken, const uint64_t *note)
{
    struct hybrid_view v = hybrid_open(state);
    hybrid_train(&v, pc, taken, note[0]);
}

const struct direction_predictor direction_hybrid = {
    .name = "hybrid",
    .help = "bimodal and gshare, and two-bit counters by address that choose",
    .create = create,
    .destroy = destroy,
    .visit = visit_state,
    .predict = predict,
    .speculate = speculate,
    .recover = recover,
    .train = train,
    .mark = mark,
};
