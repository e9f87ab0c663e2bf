/* What the modes of recording share. */
#ifndef CYCLESCOPE_MONITOR_RECORDER_PRIV_H
#define CYCLESCOPE_MONITOR_RECORDER_PRIV_H

#include "base/random.h"
#include "monitor/chains.h"
#include "monitor/maps.h"
#include "monitor/recorder.h"
#include "pmu/pmu.h"

struct recorder {
    struct recorder_config config;
    struct core *core;              /* NULL before it is observed */
    const struct core_counts *live; /* of it, while it is there */
    struct profile_writer *to;
    struct chains *chains;
    struct maps maps;
    struct core_observer observer;
    struct simulation_sum sum;
    struct event_specs specs; /* a copy of the array, as the PMU sees it */
    struct pmu *pmu;          /* the observer's context */
    bool told;                /* events are told one by one; else the core watches counts */
    bool blames;              /* and some belong to no instruction, so that each cycle needs one to blame */
    bool blamed_once;         /* `blamed` is known */
    bool lost;                /* for want of memory there is less in the profile than there should be */
    struct insn_view blamed;  /* what the cycle is spent on that comes next, or is */
    void *state;              /* the mode's own */
    struct core_counts start; /* when it was first observed */
    struct recorder_totals totals;
    int64_t flushed_ms; /* when the profile was last brought to disk */
};

/* A mode: a const struct of functions, of which only `begin` must be there. */
struct recording {
    int (*begin)(struct recorder *r, const struct core_config *core, struct error *err); /* sets the observer up */
    pmu_counted *counted;                    /* if it can be told of all events and their instructions */
    void (*attached)(struct recorder *r);    /* to a core: r->core is known */
    void (*cycle_ended)(struct recorder *r); /* if events are told: those of a cycle, or of several, were */
    void (*ended)(struct recorder *r);       /* the core is still there */
    void (*free)(struct recorder *r);
};

extern const struct recording recording_counters; /* interrupt and precise */
extern const struct recording recording_profileme;
extern const struct recording recording_oracle;

static inline struct recorder *recorder_of(void *context)
{
    return pmu_owner(context);
}

/* Events to the next sample. */
uint64_t recorder_draw(const struct recorder *r, struct random *random, uint64_t mean);

/* Announces what is mentioned, then writes; `s->chain` is a tag. */
void recorder_write(struct recorder *r, enum profile_record_kind kind, const struct profile_sample *s);

/* What of an instruction a sample tells. */
void recorder_describe(const struct recorder *r, const struct insn_view *v, struct profile_sample *s);

/* Where events are told: the instruction that one belongs to, be it that the cycle was spent on it. */
const struct insn_view *recorder_culprit(struct recorder *r, const struct insn_view *v);

#endif
