/* Recording: an observer of a core that writes a profile.
 *
 * What a sample is charged to depends on the mode:
 *     interrupt  where an interrupt on overflow finds the program: the first instruction behind all that are in flight
 *                then, so the deeper the window, the farther from the culprit (skid)
 *     precise    the instruction whose event made the counter overflow; of cycles, and of events that belong to no
 *                instruction, what that cycle was spent on
 *     profileme  an instruction chosen at fetch, with its whole history; with pairs, two that are near each other
 *     oracle     no samples: every event is charged to its instruction, as with precise
 *
 * Periods are drawn anew for each sample, evenly from half to one and a half of the mean, so that they do not fall into
 * step with loops. A sample stands for the mean. Events are sampled independently of each other.
 *
 * Plain counts of retired instructions and of cycles are watched by the core, which costs nearly nothing. All others,
 * and those whose cause is to be told, are told one by one, which is slow; the samples are the same.
 *
 * Limits: of a guest that forks only the process that was started is recorded. */
#ifndef CYCLESCOPE_MONITOR_RECORDER_H
#define CYCLESCOPE_MONITOR_RECORDER_H

#include "core/simulate.h"
#include "monitor/profile_file.h"
#include "pmu/event_spec.h"

enum record_mode { RECORD_INTERRUPT, RECORD_PRECISE, RECORD_PROFILEME, RECORD_ORACLE };

#define RECORD_PERIOD_MOST UINT64_C(1000000000000000000)
enum { RECORD_PAIRS_MOST = 1000000 };

struct recorder_config {
    enum record_mode mode;
    struct event_specs *specs; /* not with RECORD_PROFILEME; those without a period get the next */
    uint64_t period;           /* mean events, or with RECORD_PROFILEME instructions fetched, per sample */
    bool fixed;                /* periods are not drawn */
    bool addresses;            /* samples of memory accesses tell their address */
    bool truth;                /* samples tell what caused them; with RECORD_INTERRUPT and RECORD_PRECISE */
    uint64_t pair_window;      /* with RECORD_PROFILEME: the second one is at most so far behind; 0: no second */
    uint64_t seed;
};

const char *record_mode_name(enum record_mode m);

struct recorder;

/* The specs stay the caller's, and the writer, until recorder_finish. */
struct recorder *recorder_new(const struct recorder_config *k, const struct core_config *core,
                              const struct guest_memory *memory, struct profile_writer *to,
                              struct error *err) MUST_CHECK;
void recorder_free(struct recorder *r);

/* A simulation needs both. */
const struct core_observer *recorder_observer(struct recorder *r);
const struct simulation_sum *recorder_sum(struct recorder *r);

/* What was recorded: of one process. */
struct recorder_totals {
    uint64_t samples; /* with an oracle, places that had events */
    uint64_t instructions, cycles;
};

/* The run has ended: what is left is written. */
int recorder_finish(struct recorder *r, struct recorder_totals *totals, struct error *err) MUST_CHECK;

#endif
