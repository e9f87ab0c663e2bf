/* Recording: shared by recorder.c and the modes (record_*.c). */
#ifndef CYCLESCOPE_PROFILE_RECORDER_PRIV_H
#define CYCLESCOPE_PROFILE_RECORDER_PRIV_H

#include "base/random.h"
#include "profile/chains.h"
#include "profile/maps.h"
#include "profile/recorder.h"
#include "pmu/pmu.h"

struct recorder {
    struct recorder_config config;
    struct core *core;              /* NULL before it is observed, and in a forked process */
    const struct core_counts *live; /* current counts of `core` */
    struct profile_writer *to;
    struct chains *chains;
    struct maps maps;
    struct core_observer observer; /* its context is `pmu` */
    struct simulation_sum sum;
    struct event_specs specs; /* copy of the caller's array, adapted for the PMU */
    struct pmu *pmu;
    bool event_callbacks;     /* the PMU reports every event; false: the core watches counts */
    bool needs_blame;         /* some events belong to no instruction, so each cycle needs one to blame */
    bool has_blamed;          /* `blamed` is set */
    bool lost;                /* some samples are missing for lack of memory */
    struct insn_view blamed;  /* instruction that the current cycle is spent on */
    void *state;              /* private to the mode */
    struct core_counts start; /* counts when observing began */
    struct recorder_totals totals;
    int64_t flushed_ms; /* host time when the profile was last written to disk */
};

/* Implementation of one or more enum record_mode. Functions may be NULL, except `begin`. */
struct recorder_mode {
    /* Allocates r->state and adds callbacks to r->observer. */
    int (*begin)(struct recorder *r, const struct core_config *core, struct error *err);
    pmu_counted *counted;                    /* called for every event, if r->event_callbacks */
    void (*attached)(struct recorder *r);    /* observing begins: r->core and r->live are set */
    void (*cycle_ended)(struct recorder *r); /* called after the events of one or more cycles, if r->event_callbacks */
    void (*ended)(struct recorder *r);       /* the run is over; the core still exists */
    void (*free)(struct recorder *r);        /* frees r->state, which may be NULL */
};

extern const struct recorder_mode recorder_mode_counters; /* RECORD_INTERRUPT and RECORD_PRECISE */
extern const struct recorder_mode recorder_mode_profileme;
extern const struct recorder_mode recorder_mode_oracle;

/* The recorder, given the context of an observer's callback. */
static inline struct recorder *recorder_of(void *context)
{
    return pmu_owner(context);
}

/* Draws the number of events up to the next sample. */
uint64_t recorder_draw(const struct recorder *r, struct random *random, uint64_t mean);

/* Writes a sample, and before it the chain and the mappings that it refers to. `s->chain` is a node of r->chains. */
void recorder_write(struct recorder *r, enum profile_record_kind kind, const struct profile_sample *s);

/* Copies pc, chain, outcome and, if wanted, the data address of an instruction to a sample. */
void recorder_describe(const struct recorder *r, const struct insn_view *v, struct profile_sample *s);

/* With event_callbacks: the instruction to charge an event to, `v` or, if that is NULL, the one that the current cycle
 * is spent on. */
const struct insn_view *recorder_culprit(struct recorder *r, const struct insn_view *v);

#endif
