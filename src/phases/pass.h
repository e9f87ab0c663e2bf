/* The pass of a sampled run: one functional run of the whole program, while copies of the process measure windows,
 * several at a time (terms: points.h).
 *
 * Before a batch of windows the process is copied (guest/process_copy.h); the copy warms a core and measures. At the
 * end of each window a fingerprint of the copy is compared with one of the run, to detect a copy that took another
 * path.
 *
 * If the program changes files, a copy of the process rehearses the run, without visible effects, and the other copies
 * branch off it. When all windows are measured, the process itself runs, with its real input and output: no copy can
 * see what it changes in files. A copy that ran to its end before has shown whether it does (process_copy_acted).
 *
 * Other programs, and those where the length of the run is unknown or a copy cannot run to the end (the program reads a
 * pipe), run while their copies measure. */
#ifndef CYCLESCOPE_PHASES_PASS_H
#define CYCLESCOPE_PHASES_PASS_H

#include "phases/points.h"
#include "phases/saved.h"

enum {
    SIMULATION_NUMBERS = sizeof(struct simulation_counts) / sizeof(uint64_t), /* values of struct simulation_counts */
    SECOND_WARMUPS = 20, /* warm-up of the second measurement of a window, in multiples of the usual one */
};

/* A window and its result. */
struct measured {
    struct window window;
    unsigned phase;   /* index of points.phase; systematic: 0 until combine_prepare */
    bool done;        /* it was measured: `number` is valid */
    bool strayed;     /* the copy ended in another state than the run (it used what it renamed or made, or a process it
                         started) */
    bool kept;        /* the values come from an earlier run */
    struct error err; /* if not done: the reason */
    /* The values: SIMULATION_NUMBERS of struct simulation_counts, then those of simulation.sum. Then 1 if the window
     * was measured a second time, and the values of that. NULL if the copy was not started. */
    const uint64_t *number;
};

/* What warming counted in every unit of a stretch. All 0: the unit lies beyond the end of the run, or its copy failed.
 */
struct unit_counts {
    size_t first, count;               /* its units */
    const uint64_t (*of)[WARM_COUNTS]; /* by unit, from the first one on; indexed by enum warm_count */
};

struct head_start;

struct pass {
    const struct points *points;
    const struct simulation *simulation; /* of each window; each copy has its own observer and sum */
    unsigned jobs;                       /* most copies at a time */
    bool rehearse;                       /* measure beside a rehearsal, if one is possible */
    struct saved_states *save;           /* where stretches with units save warm states; NULL: nowhere */
    const struct saved_states *saved;    /* warm states to measure points from; NULL: none */
    const struct head_start *begun;      /* has warmed and counted the first units, with states in `save`; NULL: none */
    size_t begun_units;
    /* Called now and then: instructions of the run so far, windows that are done and that were started. May be NULL. */
    void (*progress)(void *context, uint64_t insns, size_t done, size_t begun);
    /* Called when window `i` was measured. May be NULL. */
    void (*done)(void *context, size_t i, const struct measured *m);
    void *context;
    /* Returns the values of window `i` from an earlier run, or NULL. May be NULL. */
    const uint64_t *(*kept)(void *context, size_t i);
};

struct pass_result {
    struct measured *measured; /* in the order of the run */
    size_t count;
    size_t numbers;              /* values of one measurement of a window */
    struct unit_counts *stretch; /* in the order of the run, without gaps; none: units were not counted */
    size_t stretches;
    bool rehearsed;       /* the windows were measured beside a rehearsal: the process itself has not run yet */
    bool whole;           /* the rehearsal ran to its end, and so did all copies */
    uint64_t insns;       /* instructions of the run */
    uint64_t **shared;    /* blocks of shared memory that measured.number points into */
    size_t *shared_bytes; /* size of each block */
    size_t shared_count;
};

/* The number of values in measured.number. */
size_t pass_numbers(const struct pass *pass);
/* The values of the second measurement of a window, or NULL. */
const uint64_t *pass_second(const struct pass_result *r, const struct measured *m);
/* The number of units that were counted, from the head on. */
size_t pass_units(const struct pass_result *r);
/* What warming counted in unit `u`, indexed by enum warm_count. NULL: it lies in no stretch. */
const uint64_t *pass_unit(const struct pass_result *r, size_t u);

/* Measures the windows. 0 or a negative code with a message. A window that could not be measured is not an error: see
 * struct measured. */
int pass_run(struct process *p, const struct pass *pass, struct pass_result *r, struct error *err) MUST_CHECK;
/* After pass_run: runs the process to its end, unless it has ended. If it is longer or shorter than its rehearsal
 * by more than a window, all windows have strayed. 0 or a negative code with a message. */
int pass_finish(struct process *p, const struct pass *pass, struct pass_result *r, struct error *err) MUST_CHECK;
void pass_result_free(struct pass_result *r);

#endif
