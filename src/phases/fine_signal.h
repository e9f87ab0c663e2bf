/* A run in few numbers per interval, for initialization and periods: basic block vectors, projected to a few
 * dimensions (project.h), at a resolution that follows from the length of the run.
 *
 * Recording begins with intervals of FINE_FIRST instructions. When there are FINE_MOST samples, each two neighbors are
 * added up, and the interval doubles. So a run of any length has between half of FINE_MOST and FINE_MOST samples, or
 * fewer if it is very short, and is recorded in one pass.
 *
 * After each doubling follows a detail: DETAIL_MOST samples that are DETAIL_FINER times as short. They are added up to
 * samples of the whole run as well. The last detail lies in the second half of the run, where programs have left their
 * initialization; it shows periods that are too short for the samples of the whole run.
 *
 * A sample is a sum, not normalized, so that samples can be added. */
#ifndef CYCLESCOPE_PHASES_FINE_SIGNAL_H
#define CYCLESCOPE_PHASES_FINE_SIGNAL_H

#include <stdbool.h>

#include "phases/project.h"

enum {
    FINE_FIRST = 1000,
    FINE_MOST = 2048,
    DETAIL_FINER = 16,
    DETAIL_MOST = 512, /* a multiple of DETAIL_FINER */
    DETAILS = 64       /* enough for 2^64 instructions */
};

struct fine_sample {
    projected at;  /* sum of the directions of the blocks, times their weights */
    double weight; /* sum of the weights */
};

struct fine_detail {
    uint64_t start, interval; /* of its first sample, of each sample; instructions */
    struct fine_sample *sample;
    size_t count;
};

/* All zero is an empty signal. */
struct fine_signal {
    enum bbv_weight weight; /* what is recorded of each block */
    bool given;             /* made of the vectors of a set */
    uint64_t interval;      /* instructions of a sample */
    struct fine_sample *sample;
    size_t count;
    struct fine_detail detail[DETAILS];
    unsigned details;
    /* While the run is recorded: */
    struct fine_sample now;    /* the sample in progress */
    struct fine_sample now_in; /* the sample in progress of the detail in progress */
    uint64_t done;             /* instructions of `now` */
    size_t detail_left;        /* samples that the detail in progress lacks; 0: there is none */
    projected *direction;      /* by block */
    size_t directions, direction_room;
};

/* Recording, step by step: run fine_signal_left instructions; call fine_signal_add for each block that ran; then
 * fine_signal_pass ends the step. fine_signal_end ends the recording. 0 or -ENOMEM. */
uint64_t fine_signal_left(const struct fine_signal *f);
int fine_signal_add(struct fine_signal *f, uint32_t block, uint64_t insns, uint64_t entries) MUST_CHECK;
int fine_signal_pass(struct fine_signal *f, uint64_t insns) MUST_CHECK;
void fine_signal_end(struct fine_signal *f);

/* Makes a signal of the vectors of a set: one sample for each vector; no details. 0 or -ENOMEM. */
int fine_signal_of_set(struct fine_signal *f, const struct bbv_set *s) MUST_CHECK;

void fine_signal_free(struct fine_signal *f);

#endif
