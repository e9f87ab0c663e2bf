/* Runs a process on a core, either all of it or one part:
 *
 *     [ skip: functional, warm or not ][ warm-up: on the core, not counted ][ measured: on the core ]
 *
 * Lengths count instructions of one process, without instructions of firmware. Processes that the guest forks run on
 * their own cores, which start as copies of the parent's core; their measurements are added to the result. */
#ifndef CYCLESCOPE_SIM_SIMULATE_H
#define CYCLESCOPE_SIM_SIMULATE_H

#include "core/core.h"
#include "core/machine.h"
#include "guest/process.h"

/* Numbers that an observer computes during a run. The simulation adds them up over the processes that the guest forks,
 * and calls the functions. */
struct simulation_sum {
    void (*forked)(void *context); /* called in a process that the guest forked: restart `numbers` at 0 from here */
    void (*end)(void *context);    /* called after the observer's last record: bring `numbers` up to date */
    /* Turns counting on or off; at first it is on. Called between two cycles, with instructions in flight. NULL: the
     * observer always counts. */
    void (*set_counting)(void *context, bool counts);
    /* Called when the mark of the process (process_is_marked) changes, in the system call that changes it, with all
     * records reported; at first the process is marked. NULL: the observer ignores marks. */
    void (*set_marked)(void *context, bool marked);
    void *context;
    uint64_t *numbers; /* of this process; when the simulation returns, including its children */
    size_t count;      /* of numbers */
};

/* Callbacks for a caller that works together with firmware through firmware's memory (core_firmware_memory). */
struct simulation_firmware_hooks {
    /* Called once, when the firmware is loaded and before it starts (a2: core_firmware_free). A negative code ends the
     * simulation. May be NULL. */
    int (*prepare)(void *context, struct core *c, struct error *err);
    /* Called in the process of each program when measuring begins. Not called in processes that the guest forks. May be
     * NULL. */
    void (*begin)(void *context, struct core *c);
    /* Called in the process of each program when measuring is over: nothing is in flight, and the last cycle is
     * counted. Not called in processes that the guest forks. May be NULL. */
    void (*end)(void *context, struct core *c);
    /* Called in the caller's process while measuring, after each run of the core, so at least once per quantum of a
     * thread, and once more after `end`. The program is between two instructions, and the firmware is not running. May
     * be NULL. */
    void (*drain)(void *context, struct core *c);
    void *context;
};

struct simulation {
    const struct core_config *core;
    uint64_t skip_insns; /* executed functionally before warm-up */
    bool warm;           /* skipped instructions warm caches, TLBs and predictors */
    const void *state;   /* warm state from core_put_warm to start with; NULL: caches, TLBs and predictors start cold */
    size_t state_bytes;
    uint64_t warmup_insns;   /* run on the core before measuring, not counted */
    uint64_t max_insns;      /* instructions to measure; 0: up to the program's end */
    uint64_t turn_cycles;    /* length of a turn when several programs share the core (programs.h) */
    bool step;               /* simulate idle cycles one by one */
    bool keep_pipeline_full; /* do not drain before and after measuring; ignored if `sum` lacks set_counting */
    const char *firmware;    /* path of the firmware (machine.h), or the name of `firmware_image`; NULL: no firmware */
    const void *firmware_image;                             /* content of the firmware; NULL: read the file */
    size_t firmware_bytes;                                  /* size of `firmware_image` */
    const struct machine_counters *machine_counters;        /* with firmware: implementation of its counters */
    const struct simulation_firmware_hooks *firmware_hooks; /* NULL: none */
    const struct core_observer *observer;                   /* observes the measured part; NULL: none */
    /* Observes the warm-up, unless the pipeline is kept full, which makes `observer` do that; NULL: none. */
    const struct core_observer *warmup_observer;
    const struct simulation_sum *sum; /* numbers of the observer; NULL: none */
    /* Called with 0 when measuring begins, then from time to time with the number of instructions measured so far. May
     * be NULL. */
    void (*progress)(void *context, uint64_t insns);
    /* Called now and then while instructions are skipped: how many so far. NULL: nobody wants to know. */
    void (*skipping)(void *context, uint64_t insns);
    void *progress_context;
};

struct simulation_counts {
    struct core_counts core;
    struct memsys_counts memory;
};

struct simulation_result {
    struct simulation_counts counts; /* of the measured part */
    uint64_t skipped_insns;
    bool cut; /* max_insns was reached before the program, or a process that it forked, ended */
};

/* Subtracts an earlier reading of the same counts, field by field. */
void simulation_counts_subtract(struct simulation_counts *from, const struct simulation_counts *earlier);

/* 0 or a negative code. Also returns in each process that the guest forked; process_is_child distinguishes them. */
int simulate_process(struct process *p, const struct simulation *s, struct simulation_result *r,
                     struct error *err) MUST_CHECK;

#endif
