/* One functional pass over a run, beside which windows of it are measured by copies of the process, several at once.
 *
 * The run itself happens once, at full speed, with its input and output. Ahead of a window, or of a stretch of
 * systematic ones, the process is copied (guest/shadow.h); the copy warms a core and measures. Whether it took the same
 * path as the run itself is checked at the end of each window. */
#ifndef CYCLESCOPE_POINTS_PASS_H
#define CYCLESCOPE_POINTS_PASS_H

#include "points/points.h"

enum {
    SIMULATION_NUMBERS = sizeof(struct simulation_counts) / sizeof(uint64_t),
    PASS_WARM_NUMBERS = 2 * WARM_COUNTS, /* that follow those of a window */
};

/* What became of a window. */
struct measured {
    struct window window;
    unsigned phase;
    bool done;
    bool strayed;     /* its copy was not where the run itself was when it ended: a clock of cycles, a changed file */
    bool kept;        /* from an earlier run */
    struct error err; /* not done: why */
    /* SIMULATION_NUMBERS of struct simulation_counts, then those of simulation.sum. Of systematic windows also, by enum
     * warm_count, what warming noted of the window, and of the stretch that it is the first of, else 0. */
    const uint64_t *number;
};

struct pass {
    const struct points *points;
    const struct simulation *simulation; /* of each window; its observer and sum are the copies' */
    unsigned jobs;                       /* copies at once */
    /* Now and then: instructions of the run so far, windows that are done and begun. May be NULL. */
    void (*progress)(void *context, uint64_t insns, size_t done, size_t begun);
    /* A window is done. May be NULL. */
    void (*done)(void *context, size_t i, const struct measured *m);
    void *context;
    /* What an earlier run has kept of window `i`: its numbers, or NULL. May be NULL. */
    const uint64_t *(*kept)(void *context, size_t i);
};

struct pass_result {
    struct measured *measured;
    size_t count;
    size_t numbers;      /* of each, without those of warming */
    uint64_t insns;      /* of the run */
    uint64_t **allotted; /* whose memory they share */
    size_t *bytes;       /* of each */
    size_t allotments;
};

/* Runs the process to its end. 0 or a negative code. Windows that could not be measured are no error. */
int pass_run(struct process *p, const struct pass *pass, struct pass_result *r, struct error *err) MUST_CHECK;
void pass_result_free(struct pass_result *r);

#endif
