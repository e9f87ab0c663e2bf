/* Choice of points from basic block vectors: intervals that execute similar code form a phase (phases/cluster.h).
 * Points are units of the intervals of each phase, spread over the time in which the phase occurs: many short ones show
 * how much a phase varies, at less cost than a few long ones. */
#ifndef CYCLESCOPE_PHASES_CHOOSE_H
#define CYCLESCOPE_PHASES_CHOOSE_H

#include "phases/bbv.h"
#include "phases/points.h"

struct choose_options {
    uint64_t unit;      /* length of a point, in instructions */
    size_t points;      /* number of points */
    unsigned per_phase; /* fewest points of a phase that has at least this number of units */
    uint64_t seed;
};

enum {
    CHOOSE_WINDOWS = 500,       /* windows of a sample, if no number is given and no second pass follows */
    CHOOSE_FIRST = 150,         /* windows of a first pass, which a second one completes (refine.h) */
    CHOOSE_PER_PHASE = 12,      /* for choose_options.per_phase, without a second pass */
    CHOOSE_PER_PHASE_FIRST = 5, /* with one */
    CHOOSE_LIMIT = 4096,        /* most points that may be given */
    PHASES_MOST = 30,           /* most clusters; outliers, the end and the head are phases, too */
    CHOOSE_TWICE = 24           /* windows of a sample that are measured a second time, with longer warming */
};

/* Instructions of an interval whose units are points: a multiple of the unit, half a million if that is possible. */
uint64_t choose_interval(uint64_t unit);

/* Instructions of the head of a run of this length. The head is measured whole, since the start of a program resembles
 * no other part of it. */
uint64_t choose_head(uint64_t run_insns);

/* Sets the stretches of a sample of a run of this length (0: unknown). The number does not depend on the machine, since
 * a sample must not. A lead does not bring back lines that the second cache has kept for long: each boundary between
 * stretches costs up to as many misses too many as that cache has lines. So a run of up to LEADS_ALONE leads is one
 * stretch, beside which windows are measured. A longer run has an even number of long stretches that end in pairs at
 * the same time, so that two processors, or four, have work to the end. */
void choose_stretches(uint64_t run_insns, struct points *p);

/* Chooses points: sets all of `p` but leads and stretches. `units` receives the phases of all units; the caller frees
 * units->phase. The intervals of `s` are a multiple of o->unit long. 0 or a negative code with a message. */
int points_choose(const struct bbv_set *s, const struct choose_options *o, struct points *p, struct unit_phases *units,
                  struct error *err) MUST_CHECK;

/* ---- choose_copy.c */

/* What a copy that ran to its end found out about a run. */
struct run_facts {
    uint64_t insns; /* its instructions; 0: unknown */
    bool acts;      /* it changes files by name or starts processes: process_copy_acted */
};

/* Chooses points for a process that has not started: a copy of it runs to its end without visible effects, and is
 * profiled. */
int points_choose_for(struct process *process, const struct choose_options *o, struct points *p,
                      struct unit_phases *units, struct run_facts *facts, struct error *err) MUST_CHECK;

/* The facts of a process that has not started: a copy of it runs to its end without visible effects. Returns 0, or a
 * negative code with a message if a copy cannot run to the end. */
int run_facts_for(struct process *process, struct run_facts *facts, struct error *err) MUST_CHECK;

#endif
