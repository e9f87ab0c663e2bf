/* A process run on a core, or the part of it that is of interest:
 *
 *     [ skip: functional, warm or not ][ warm-up: on the core, not counted ][ measured: on the core ]
 *
 * Lengths are in instructions of one process, those of firmware not included. Processes that the guest forks run on
 * cores of their own, which start as copies of their parent's; what they measure is added to the result. */
#ifndef CYCLESCOPE_CORE_SIMULATE_H
#define CYCLESCOPE_CORE_SIMULATE_H

#include "core/core.h"
#include "core/machine.h"
#include "guest/process.h"

/* Numbers that an observer makes of a run, to be added up over the processes that the guest forks. */
struct simulation_sum {
    void (*forked)(void *context); /* this process is a copy of one that goes on measuring; it measures from here on */
    void (*end)(void *context);    /* the last record has come: `numbers` are to be right */
    /* What happens from now on counts, or not; at first it does. Told between two cycles, with instructions in flight.
     * NULL: it always counts. */
    void (*part)(void *context, bool counts);
    void *context;
    uint64_t *numbers; /* of this process; when the simulation returns, of its children as well */
    size_t count;
};

/* What a caller does beside firmware, whose memory it reads and writes by core_firmware_memory. */
struct simulation_beside {
    /* Once, when the firmware is loaded, before it starts (a2: core_firmware_free). A negative code ends it all. May be
     * NULL. */
    int (*prepare)(void *context, struct core *c, struct error *err);
    /* In the process of each program: measuring begins; and it is over, with nothing in flight and the last cycle
     * counted. Not in processes that the guest forks. May be NULL. */
    void (*begin)(void *context, struct core *c);
    void (*end)(void *context, struct core *c);
    /* In the process of the caller, while measuring, after each run of the core: at least once per quantum of
     * instructions of a thread; the program is between two instructions and the firmware not under way. And once more
     * behind `end`. May be NULL. */
    void (*drain)(void *context, struct core *c);
    void *context;
};

struct simulation {
    const struct core_config *core;
    uint64_t skip_insns;
    bool warm; /* caches, TLBs and predictors see what is skipped */
    const void
        *state; /* what core_put_warm left of caches, TLBs and predictors, to begin with, or NULL: they are cold */
    size_t state_bytes;
    uint64_t warmup_insns;
    uint64_t max_insns;         /* measured ones; 0: to the end */
    uint64_t turn_cycles;       /* with other programs (programs.h): of a turn on the core */
    bool step;                  /* simulate idle cycles one by one */
    bool moving;                /* measure from a full pipeline to a full one: it is not emptied before and after */
    const char *firmware;       /* file of what runs in machine mode (machine.h), or NULL; with an image, its name */
    const void *firmware_image; /* its content, if it is no file; else NULL */
    size_t firmware_bytes;      /* of the image */
    const struct machine_counters *machine_counters; /* with firmware: who counts for it */
    const struct simulation_beside *beside;          /* what the caller does to firmware's memory, or NULL */
    const struct core_observer *observer;            /* of what is measured, or NULL */
    const struct simulation_sum *sum;                /* what it makes of it, or NULL */
    /* Called when measuring begins, with 0, and then now and then with the instructions measured so far. May be NULL.
     */
    void (*progress)(void *context, uint64_t insns);
    void *progress_context;
};

struct simulation_counts {
    struct core_counts core;
    struct memsys_counts memory;
};

struct simulation_result {
    struct simulation_counts counts; /* of what was measured */
    uint64_t skipped_insns;
    bool cut; /* max_insns were reached before the program, or one that it forked, ended */
};

/* 0 or a negative code. In a process that the guest forked it returns as well: process_is_child tells. */
int simulate_process(struct process *p, const struct simulation *s, struct simulation_result *r,
                     struct error *err) MUST_CHECK;

#endif
