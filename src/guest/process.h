/* A guest Linux process: memory, threads, signals, open files, and the system calls that act on them.
 *
 * The process does not execute instructions. Whoever does (emulate/, core/) asks for the next thread to run, runs its
 * hart for at most the quantum, and hands back the trap:
 *
 *     while ((t = process_next(p)) != NULL) {
 *         engine runs t->hart for t->hart.quantum instructions;
 *         process_trap(p, t);
 *     }
 *     process_status(p) is the exit status
 *
 * Threads share one hart in a fixed order by instruction quantum, so a run repeats exactly. Guest-visible time is
 * instructions retired at a nominal 1 GHz plus time slept; sleeping costs no host time unless `host_time` is set. */
#ifndef CYCLESCOPE_GUEST_PROCESS_H
#define CYCLESCOPE_GUEST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/hart.h"
#include "guest/memory.h"

struct process;
struct thread;

struct guest_bind {
    const char *path; /* a host folder, visible to the guest under the same path */
    bool readonly;
};

/* What a monitor tells the guest about itself: the contents of /dev/cyclescope, asked for whenever it is opened. In a
 * process that the guest forked `context` is that process's copy. */
struct guest_report {
    size_t (*read)(void *context, void *to, size_t size); /* fills at most `size` bytes; how many */
    void *context;
};

struct process_config {
    const char *sysroot;            /* the guest's root folder, or NULL for the host's */
    bool isolate;                   /* the guest sees only the sysroot and the binds */
    const struct guest_bind *binds; /* with `isolate`; bind_count of them */
    size_t bind_count;
    bool allow_net;                    /* sockets of all families; otherwise socket() fails with EACCES */
    bool host_time;                    /* clocks and sleeps are the host's */
    uint64_t seed;                     /* of AT_RANDOM, getrandom and /dev/urandom */
    const char *chdir;                 /* guest folder to start in, or NULL for the caller's */
    char *const *argv;                 /* argv[0] is the program, looked up as the guest's execvp would */
    char *const *envp;                 /* the guest's whole environment */
    uint64_t memory_limit_bytes;       /* see guest_memory_new */
    uint64_t stack_limit_bytes;        /* RLIMIT_STACK */
    uint64_t quantum_insns;            /* instructions that a thread runs before the next one's turn */
    const struct guest_report *report; /* /dev/cyclescope, or NULL: there is none, as nobody monitors */
};

/* Loads the program and makes its first thread. NULL with a sentence in `err` if it cannot be. */
struct process *process_new(const struct process_config *config, struct error *err) MUST_CHECK;
void process_free(struct process *p);

struct thread *process_next(struct process *p); /* NULL when the process has ended */
void process_trap(struct process *p, struct thread *t);
struct hart *thread_hart(struct thread *t);

/* Kills what the guest forked and what still runs, when nobody wants its outcome any more. */
void process_abandon_children(struct process *p);

int process_status(const struct process *p); /* exit code, or 128 + signal */
/* The dynamic loader gave up before the program began, and has said why: a library is missing. */
bool process_loader_failed(const struct process *p);
int process_signal(const struct process *p);             /* the signal that ended it, or 0 */
bool process_is_child(const struct process *p);          /* forked by the guest: its end is its parent's to see */
uint64_t process_retired_insns(const struct process *p); /* over all threads, ended ones too */
uint64_t process_total_insns(const struct process *p);   /* and over all processes that this one forked and reaped */
struct guest_memory *process_memory(struct process *p);
/* A number made of all registers of all threads: two copies of a process that differ there are most likely told apart.
 * Never 0. */
uint64_t process_fingerprint(const struct process *p);
const struct process_config *process_configuration(const struct process *p); /* what it was made with */
const char *process_program(const struct process *p);                        /* guest path of the running program */

/* Asks from another host context (a signal handler) that the engine return soon. */
#endif
