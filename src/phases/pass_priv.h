/* What the files of a pass share (terms: points.h).
 *
 *     pass_batches.c   which windows one copy measures, and where it begins
 *     pass_copies.c    copies and their results
 *     pass.c           the run that starts them
 *     pass_rehearsal.c the run as a copy, while the process itself waits */
#ifndef CYCLESCOPE_PHASES_PASS_PRIV_H
#define CYCLESCOPE_PHASES_PASS_PRIV_H

#include "phases/pass.h"

/* The result of a window, in memory that the copies share with the run. */
struct shared_result {
    struct error err;     /* if not done: the reason */
    bool strayed;         /* the copy ended in another state than the run */
    uint64_t done;        /* 1: the first measurement is valid */
    uint64_t fingerprint; /* of the copy at the end of the window */
    uint64_t number[];    /* as in struct measured */
};

/* Windows that one copy measures. */
struct batch {
    size_t first, count;            /* its windows */
    uint64_t begin;                 /* instruction at which the process is copied */
    bool second;                    /* points: the second measurement of its windows */
    bool settled;                   /* points: its only window is settled */
    uint64_t from, to;              /* the stretch whose units are counted; to 0: none */
    uint64_t (*units)[WARM_COUNTS]; /* what warming counts in them */
    unsigned stretch;               /* number of the stretch, for its states */
    unsigned from_stretch;          /* stretch of the saved state to begin with */
    uint32_t state;                 /* its number */
    bool warm;                      /* there is one */
    int pid;                        /* host process of the copy; 0: it has ended */
};

/* What a rehearsal tells the process that waits for it, in shared memory. */
struct rehearsal {
    uint64_t insns, finished; /* instructions so far; windows that are done */
    bool ended;               /* it came to the end of the run, or to that of the last window */
    struct error err;         /* why a copy cannot rehearse the run; no text: it can */
};

struct run {
    struct process *process;
    const struct pass *pass;
    struct pass_result *result;
    struct engine_state *engine;
    size_t result_bytes;           /* size of a struct shared_result with its values */
    struct batch *batch;           /* by `begin`; of a run of unknown length: those that were started */
    size_t batches;                /* number of batches in `batch` */
    size_t started;                /* batches that were started, or whose windows are all kept */
    struct shared_result **shared; /* by window: its result */
    uint64_t *fingerprint;         /* by window: of the run at the end of the window; 0 before */
    size_t passed;                 /* windows that the run has passed the end of */
    size_t finished;               /* windows that are done */
    unsigned copies;               /* copies that run now */
    struct rehearsal *rehearsal;   /* NULL: the process itself runs */
    struct saved_reader reader;    /* of pass.saved */
    size_t reported;               /* windows, from the first one on, of which pass.done was told */
};

/* The saved states that batches begin with. */
const struct saved_states *states_of(const struct pass *p);

/* ---- pass_batches.c */

/* Makes all batches, of a systematic sample if the length of the run is known. 0 or -ENOMEM. */
int batches_make(struct run *r) MUST_CHECK;
/* The next batch to start; NULL: there are no more, or, with a `code`, memory is missing. */
struct batch *batches_next(struct run *r, int *code);
/* Whether the copy of a batch makes the second measurements of this window, too: it has warmed for as long as they ask
 * for when it comes to the window, or from the start of the run. */
bool batch_measures_twice(const struct run *r, const struct batch *b, size_t i);

/* ---- pass_copies.c */

/* Whether all measurements of a window are there. */
bool window_is_complete(const struct run *r, size_t i);

/* Forks a copy for the batch, and waits until the copy is independent. 0 or a negative code. */
int copy_begin(struct run *r, struct batch *b, struct error *err) MUST_CHECK;
/* Takes the results of all copies that have ended. Does not wait. */
void copies_reap(struct run *r);
/* Kills copies that still run, after an error or an interruption, and takes their results. */
void copies_kill(struct run *r);

/* ---- pass.c */

/* Takes the values that an earlier run has kept. True: the batch needs no copy, since it counts no units either. */
bool batch_take_kept(struct run *r, const struct batch *b);

/* Runs the process to its end or to the last window, while copies measure. 0 or a negative code with a message. */
int measure_beside(struct run *r, struct error *err) MUST_CHECK;

/* ---- pass_rehearsal.c */

/* Measures beside a rehearsal. 0, a negative code with a message, or 1: the run cannot be rehearsed. */
int measure_beside_rehearsal(struct run *r, struct error *err) MUST_CHECK;

#endif
