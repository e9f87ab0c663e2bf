/* More windows for a sample whose interval is too wide.
 *
 * A second pass needs the process as it was at the start. So a copy of it is forked before the run and waits (a spare).
 * When the windows of the run are known, refine_plan says how many more windows each phase needs: Neyman's allocation,
 * which gives a phase windows in proportion to its weight and to its standard deviation. The spare runs to the end and
 * measures them, without visible effects.
 *
 * Where warming counted in every unit, rare units are measured as well: those that are unlike all windows, so that the
 * model could be far off there (by their leverage, unit_model.h). They become a phase that is measured whole. */
#ifndef CYCLESCOPE_PHASES_REFINE_H
#define CYCLESCOPE_PHASES_REFINE_H

#include "phases/choose.h"
#include "phases/combine.h"

enum { REFINE_MOST = 4096 }; /* most windows of a second pass */

/* Windows that are still needed. */
struct refinement {
    struct points points; /* the windows to measure; none: no window helps */
    uint64_t wanted;      /* windows that the precision takes; more than points.count if that is too many */
    size_t *rare;         /* rare units, in the order of the run; windows of the first pass may be among them */
    size_t rares;
};

/* Draws windows for the half interval of the CPI to become `precision` times the CPI. At most `most_insns` instructions
 * are measured. `warmup_insns` is measured, too, with each window. 0 or -ENOMEM. */
int refine_plan(const struct sampled_run *s, double precision, uint64_t most_insns, uint64_t warmup_insns,
                struct refinement *to, struct error *err) MUST_CHECK;

/* After the windows were measured: makes a phase of the rare units. 0 or -ENOMEM. */
int refine_separate_rare(struct sampled_run *s, const struct refinement *r) MUST_CHECK;
void refinement_free(struct refinement *r);

/* ---- spare.c */

struct spare;

/* Forks a copy of the process that waits. `pass` is that of the run: its points are not used. NULL with a message if
 * that fails. */
struct spare *spare_new(struct process *p, const struct pass *pass, struct error *err) MUST_CHECK;
/* Lets the spare measure these windows, and adds them to the result of the run. 0 or a negative code. */
int spare_measure(struct spare *spare, const struct points *points, struct sampled_run *s,
                  struct error *err) MUST_CHECK;
void spare_free(struct spare *spare); /* may be NULL */

#endif
