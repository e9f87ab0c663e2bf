/* Recording: an observer of a core that writes a profile. Recording is one of two parts of this folder. The other is
 * analysis: it reads a profile and prepares it for reports (start at profile.h). The two share only the profile on disk
 * (profile_file.h). Read the files of recording in this order:
 *
 *     recorder.h, recorder_priv.h, recorder.c  the observer, and what its modes share
 *     record_counters.c                        modes interrupt and precise
 *     record_profileme.c, record_oracle.c      modes profileme and oracle
 *     chains.h, maps.h                         call chains and mappings that samples refer to
 *     profile_file.h, profile_format.h         the file
 *
 * The mode determines the instruction that a sample is charged to:
 *     interrupt  where an interrupt on overflow finds the program: the first instruction behind all that are in flight
 *                at the overflow; so the deeper the window, the farther from the culprit (skid)
 *     precise    the instruction whose event made the counter overflow; for cycles, and for events that belong to no
 *                instruction, the instruction that the cycle was spent on
 *     profileme  an instruction chosen at fetch, with its whole history; with pairs, two that are near each other
 *     oracle     no samples: every event is charged to its instruction, chosen as in mode precise
 *
 * The period of each sample is drawn uniformly from half to one and a half of the mean, so that sampling does not fall
 * into step with loops. A sample stands for the mean. Events are sampled independently of each other.
 *
 * The core watches plain counts of retired instructions and of cycles, which costs nearly nothing. For all other
 * events, and if the cause of samples is recorded, the PMU reports every single event, which is slow; the samples are
 * the same.
 *
 * Limits: if the guest forks, only the first process is recorded. */
#ifndef CYCLESCOPE_PROFILE_RECORDER_H
#define CYCLESCOPE_PROFILE_RECORDER_H

#include "sim/simulate.h"
#include "profile/profile_file.h"
#include "pmu/event_spec.h"

enum record_mode { RECORD_INTERRUPT, RECORD_PRECISE, RECORD_PROFILEME, RECORD_ORACLE };

#define RECORD_PERIOD_MOST UINT64_C(1000000000000000000)
enum { RECORD_PAIRS_MOST = 1000000 };

struct recorder_config {
    enum record_mode mode;
    struct event_specs *specs; /* events to sample; not used with RECORD_PROFILEME */
    uint64_t period;      /* mean events per sample, for specs without one; RECORD_PROFILEME: fetched instructions */
    bool fixed;           /* every period is the mean */
    bool addresses;       /* samples of memory accesses have their address */
    bool truth;           /* samples have their cause; with RECORD_INTERRUPT and RECORD_PRECISE */
    uint64_t pair_window; /* with RECORD_PROFILEME: largest distance of a pair's second instruction; 0: no pairs */
    uint64_t seed;        /* of the random periods */
};

const char *record_mode_name(enum record_mode m);

struct recorder;

/* The caller keeps the specs and the writer valid until recorder_finish, and frees them. */
struct recorder *recorder_new(const struct recorder_config *k, const struct core_config *core,
                              const struct guest_memory *memory, struct profile_writer *to,
                              struct error *err) MUST_CHECK;
void recorder_free(struct recorder *r);

/* For simulation.observer and simulation.sum; a simulation needs both. */
const struct core_observer *recorder_observer(struct recorder *r);
const struct simulation_sum *recorder_sum(struct recorder *r);

/* Totals of the recorded process. */
struct recorder_totals {
    uint64_t samples;              /* written; with RECORD_ORACLE, places that had events */
    uint64_t instructions, cycles; /* while it was observed */
};

/* Call it after the simulation. -ENOMEM if samples, chains or mappings were lost for lack of memory. */
int recorder_finish(struct recorder *r, struct recorder_totals *totals, struct error *err) MUST_CHECK;

#endif
