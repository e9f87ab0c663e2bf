/* A guest Linux process: memory, threads, signals, open files, and the system calls that act on them.
 *
 * The process does not execute instructions. The caller (an engine of emulate/ or a core of core/) asks for the next
 * thread to run, runs its hart for at most the quantum, and hands back the trap:
 *
 *     while ((t = process_next(p)) != NULL) {
 *         engine runs t->hart for t->hart.quantum instructions;
 *         process_trap(p, t);
 *     }
 *     process_status(p) is the exit status
 *
 * Only one thread runs at a time. Threads take turns in a fixed order, each for a quantum of instructions, so a run
 * repeats exactly. Guest time is the number of instructions retired, at a nominal 1 GHz, plus time slept. Sleeping
 * costs no host time unless `host_time` is set or the guest waits for an event from outside. */
#ifndef CYCLESCOPE_GUEST_PROCESS_H
#define CYCLESCOPE_GUEST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "riscv/hart.h"
#include "guest/memory.h"

struct process;
struct thread;

/* A host folder that an isolated guest sees. */
struct guest_bind {
    const char *path; /* path of the folder, the same on the host and in the guest */
    bool readonly;    /* changes fail with EROFS */
};

/* The contents of /dev/cyclescope: what a monitor of the run has measured of the guest. `read` is called whenever the
 * guest opens the file. In a process that the guest forked, `context` points to that process's copy. */
struct guest_report {
    size_t (*read)(void *context, void *to, size_t size); /* writes at most `size` bytes to `to`; returns the number */
    void *context;
};

/* The terminal that the command itself writes to, for a command that has a line there which it redraws in place. Called
 * around every write of the guest, and of the processes that it forks, to any descriptor. */
struct guest_console {
    bool (*begin)(void *context, int fd);  /* returns true if `fd` is that terminal; then `end` follows */
    void (*end)(void *context, char last); /* `last` is the last byte that the terminal got; 0: none */
    void *context;
};

/* The environment of a guest that is given no other: a few variables, the same for every caller. Ends with NULL. */
extern char *const guest_environment[];

/* Strings and arrays must stay valid as long as the process. */
struct process_config {
    const char *sysroot;            /* host folder that is the guest's root; NULL: the host's root */
    bool write_sysroot;             /* the guest's changes of the sysroot are kept; otherwise they end with the run */
    bool isolate;                   /* the guest sees only the sysroot and the binds */
    const struct guest_bind *binds; /* used with `isolate` only */
    size_t bind_count;              /* number of binds */
    bool allow_net;                 /* allow sockets of all families; otherwise socket() fails with EACCES */
    bool host_time;                 /* clocks and sleeps are the host's */
    bool host_user;                 /* user, groups, umask and owners of files are the host's, not fixed ones */
    bool host_streams;              /* standard streams look as they are; other descriptors of the caller stay open */
    uint64_t seed;                  /* seed of AT_RANDOM, getrandom and /dev/urandom */
    const char *chdir;              /* guest folder to start in; NULL: the caller's folder */
    char *const *argv;              /* argv[0] is the program, searched for as execvp in the guest would */
    char *const *envp;              /* the complete environment of the guest */
    uint64_t memory_limit_bytes;    /* see guest_memory_new */
    uint64_t stack_limit_bytes;     /* RLIMIT_STACK */
    uint64_t quantum_insns;         /* instructions that a thread runs before the next thread's turn */
    const struct guest_report *report;   /* contents of /dev/cyclescope; NULL: the file does not exist */
    const struct guest_console *console; /* the command's terminal; NULL: it needs no care */
};

/* Loads the program and creates its first thread. NULL with a message in `err` if it fails. */
struct process *process_new(const struct process_config *config, struct error *err) MUST_CHECK;
void process_free(struct process *p);

struct thread *process_next(struct process *p);         /* next thread to run; NULL when the process has ended */
void process_trap(struct process *p, struct thread *t); /* handles the trap in the thread's hart: system call, fault */
struct hart *thread_hart(struct thread *t);

/* Kills all other processes of the run, after this one was cut short. */
void process_abandon_children(struct process *p);

int process_status(const struct process *p); /* exit code, or 128 + signal number */
/* The dynamic loader exited before the program began, after a message to the user: usually a library is missing. */
bool process_loader_failed(const struct process *p);
int process_signal(const struct process *p); /* signal that ended the process; 0: none */
/* The signal by which somebody outside the guest asked this process to end: SIGHUP, SIGINT, SIGQUIT or SIGTERM of a
 * terminal or of a host process that is not of the run; 0: none. The guest may have handled it, and need not have ended
 * of it, but what it did afterwards depends on when the signal came. Signals that the guest ignores do not count. */
int process_interruption(const struct process *p);
bool process_is_child(const struct process *p); /* forked by the guest; see end_as_child */
/* The process's mark, which counters with the modifier `marked` look at. Set at the start, clear in a forked process.
 * The guest sets and clears it with prctl, PR_TASK_PERF_EVENTS_ENABLE and PR_TASK_PERF_EVENTS_DISABLE. */
bool process_is_marked(const struct process *p);
uint64_t process_retired_insns(const struct process *p); /* by all threads of the process, including ended ones */
uint64_t process_total_insns(const struct process *p);   /* by the process and all its reaped descendants */
struct guest_memory *process_memory(struct process *p);
/* Returns a hash of the retired instructions and of the registers of all threads, never 0. Two copies of a process that
 * have diverged most likely have different fingerprints. */
uint64_t process_fingerprint(const struct process *p);
const struct process_config *process_configuration(const struct process *p); /* the argument of process_new */
const char *process_program(const struct process *p);                        /* guest path of the running program */
/* The arguments of the running program, each with a terminating zero, `*bytes` in all. */
const char *process_arguments(const struct process *p, size_t *bytes);
/* Copies whole arguments, as many as fit. Returns their bytes. */
enum { ARGUMENTS_KEPT = 16384 };
size_t process_copy_arguments(const struct process *p, char to[ARGUMENTS_KEPT]);

#endif
