/* The hybrid direction predictor (hybrid.c), inline: the branch unit calls it directly, since it is the usual one. No
 * branch of the host depends on what the predictor does, which the host would mispredict as often.
 *
 * A loop over many branches keeps a copy of the view in a local variable: the compiler must assume that a store to a
 * counter, which is a byte, changes anything else in memory. */
#ifndef CYCLESCOPE_BRANCH_HYBRID_H
#define CYCLESCOPE_BRANCH_HYBRID_H

#include "branch/direction.h"

struct hybrid {
    struct gshare gshare;
    struct counters *bimodal;
    struct counters *choosers; /* from COUNTER_WEAKLY_TAKEN on they select gshare */
};

/* The tables of a hybrid, with its history. */
struct hybrid_view {
    uint8_t *bimodal, *gshare, *chooser;
    uint64_t bimodal_mask, gshare_mask, chooser_mask;
    uint64_t history, history_mask;
    unsigned shift; /* aligns the history with the index of gshare */
};

/* Bits of a note above the history: the predictions of the two parts. */
enum { BIMODAL_TAKEN_BIT = 32, GSHARE_TAKEN_BIT = 33 };

static inline struct hybrid_view hybrid_open(const struct hybrid *h)
{
    return (struct hybrid_view){
        .bimodal = h->bimodal->counter,
        .gshare = h->gshare.counters->counter,
        .chooser = h->choosers->counter,
        .bimodal_mask = h->bimodal->mask,
        .gshare_mask = h->gshare.counters->mask,
        .chooser_mask = h->choosers->mask,
        .history = h->gshare.history,
        .history_mask = h->gshare.history_mask,
        .shift = h->gshare.shift,
    };
}

static inline bool hybrid_predict(const struct hybrid_view *v, uint64_t pc, uint64_t *note)
{
    uint64_t at = pc >> 1;
    bool bimodal = counter_taken(v->bimodal[at & v->bimodal_mask]);
    bool gshare = counter_taken(v->gshare[(at ^ v->history << v->shift) & v->gshare_mask]);
    bool chosen = counter_taken(v->chooser[at & v->chooser_mask]);
    *note = v->history | (uint64_t)bimodal << BIMODAL_TAKEN_BIT | (uint64_t)gshare << GSHARE_TAKEN_BIT;
    return (chosen & gshare) | (!chosen & bimodal);
}

static inline void hybrid_push(struct hybrid_view *v, bool taken)
{
    v->history = (v->history << 1 | taken) & v->history_mask;
}

static inline void hybrid_train(const struct hybrid_view *v, uint64_t pc, bool taken, uint64_t note)
{
    /* A counter after it was trained: towards 0, towards COUNTER_MAX, or not at all. */
    static const uint8_t trained[3][COUNTER_MAX + 1] = {{0, 0, 1, 2}, {1, 2, 3, 3}, {0, 1, 2, 3}};
    uint64_t at = pc >> 1, history = note & v->history_mask;
    bool bimodal_taken = note >> BIMODAL_TAKEN_BIT & 1, gshare_taken = note >> GSHARE_TAKEN_BIT & 1;
    uint8_t *bimodal = &v->bimodal[at & v->bimodal_mask], *chooser = &v->chooser[at & v->chooser_mask];
    uint8_t *gshare = &v->gshare[(at ^ history << v->shift) & v->gshare_mask];
    unsigned towards = (unsigned)(gshare_taken == taken) | (unsigned)(bimodal_taken == gshare_taken) << 1;
    *bimodal = trained[taken][*bimodal];
    *gshare = trained[taken][*gshare];
    *chooser = trained[towards < 2 ? towards : 2][*chooser];
}

#endif
