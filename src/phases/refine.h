/* A second and a third pass: windows where they help.
 *
 * The first pass measures a few windows, and warming counts in every unit. The second pass measures windows of every
 * stratum (strata.h), more where there are more units and where these differ more. If the interval of the CPI is still
 * too wide, a third pass measures windows by Neyman's allocation: in proportion to the weight of a stratum and to the
 * standard deviation of its windows.
 *
 * A pass needs the process as it was at the start. So a copy of it is forked before the run and waits (a spare). It
 * runs to the end and measures, without visible effects. */
#ifndef CYCLESCOPE_PHASES_REFINE_H
#define CYCLESCOPE_PHASES_REFINE_H

#include "phases/combine.h"
#include "phases/points.h"

enum {
    REFINE_MOST = 4096,    /* most windows of a pass */
    REFINE_STRATA = 150,   /* strata, about */
    REFINE_WINDOWS = 400,  /* fewest windows of the first two passes, about */
    REFINE_AT_FIRST = 450, /* most windows of the second pass: the first one shows deviations badly */
    REFINE_PER_STRATUM = 2 /* fewest of these in a stratum, whose difference shows how much it varies */
};

/* Windows to measure. */
struct refinement {
    struct points points; /* none: no window helps */
    uint64_t wanted;      /* windows that the precision takes; more than points.count if that is too many */
};

/* Limits of a pass. */
struct refine_limits {
    uint64_t most_insns;   /* most instructions that are measured */
    uint64_t warmup_insns; /* measured, too, with each window */
};

/* What is left of a precision for sampling: warming leaves WARM_CYCLES_ERROR. 0: nothing. */
double refine_sampling_precision(double precision);
/* The number of strata to divide a run into before the second pass. */
unsigned refine_strata_count(const struct sampled_run *s, const struct refine_limits *limits);
/* Draws windows of all strata for the half interval of the CPI to become `precision` times the CPI, as far as the first
 * windows show how many it takes. 0 or -ENOMEM with a message. */
int refine_strata(const struct sampled_run *s, double precision, const struct refine_limits *limits,
                  struct refinement *to, struct error *err) MUST_CHECK;
/* The same after the second pass, whose windows show how much each stratum varies. */
int refine_precision(const struct sampled_run *s, double precision, const struct refine_limits *limits,
                     struct refinement *to, struct error *err) MUST_CHECK;
void refinement_free(struct refinement *r);

/* ---- spare.c */

struct spare;

/* Forks a copy of the process that waits. `pass` is that of the run: its points are not used. NULL with a message if
 * that fails. */
struct spare *spare_new(struct process *p, const struct pass *pass, struct error *err) MUST_CHECK;
/* Lets the spare measure these windows, and adds them to the result; r->insns is the length of the run. 0 or a negative
 * code. */
int spare_measure(struct spare *spare, const struct points *points, struct pass_result *r,
                  struct error *err) MUST_CHECK;
void spare_free(struct spare *spare); /* may be NULL */

#endif
