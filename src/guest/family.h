/* The family: all guest processes of one run, that is, the first process and its descendants. Each of them is a host
 * process that runs the emulator.
 *
 * All processes share one table in memory. The table assigns guest ids in sequence, translates between guest ids and
 * host ids, keeps what an ended process passes to its parent, and records which process holds the baton (baton.h).
 * Processes outside of the family have no entry. FAMILY_OUTSIDE stands for the process group that the run was started
 * in, and for every other process or group outside.
 *
 * A host pid can belong to another process once its process was waited for. The table learns of that only if the parent
 * is a member, not if it is the host's init. So members are signaled through pidfds that are checked to be theirs.
 *
 * Limits: the table has FAMILY_SIZE entries. The entry of a reaped process stays until its place is needed, because the
 * process group with that id may still exist. */
#ifndef CYCLESCOPE_GUEST_FAMILY_H
#define CYCLESCOPE_GUEST_FAMILY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/ipc.h"

enum {
    FAMILY_INIT = 1,      /* guest pid of the parent of orphans */
    FAMILY_OUTSIDE = 999, /* guest pid of the first process's parent, and id of its process group */
    FAMILY_FIRST = 1000,  /* guest pid of the first process */
    FAMILY_SIZE = 16384,  /* entries of the table */
};

enum member_state {
    MEMBER_FREE,    /* entry was never used */
    MEMBER_ALIVE,   /* runs when it holds the baton */
    MEMBER_STOPPED, /* stopped by SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU */
    MEMBER_ENDED,   /* has ended and its parent has not waited for it yet */
    MEMBER_REAPED,  /* its parent has waited for it; the entry still translates its ids */
};

/* One guest process. */
struct member {
    _Atomic int state;            /* enum member_state */
    _Atomic int guest_pid;        /* process id that the guest sees */
    _Atomic int host_pid;         /* process id on the host; 0 until the fork is complete */
    _Atomic uint64_t host_start;  /* when that process began, in the host's clock ticks; 0: not known */
    _Atomic int parent_pid;       /* guest pid of its parent */
    _Atomic uint64_t insns;       /* instructions retired by the process and by the children that it reaped */
    _Atomic bool seen;            /* the parent has seen the last change of `state` */
    _Atomic bool subreaper;       /* orphans below this process become its children (PR_SET_CHILD_SUBREAPER) */
    _Atomic int stop_signal;      /* signal that stopped the process last */
    _Atomic uint32_t turn;        /* 1: the process has received the baton; its host process sleeps on this word */
    _Atomic int next, previous;   /* neighbors in the ring of the baton, as indices of `members`; -1: not in the ring */
    _Atomic uint64_t deadline_ns; /* while idle: guest time at which the process can run again, or NEVER */
    _Atomic bool outside;         /* while idle: an event from outside of the family may wake it before the deadline */
};

struct family {
    _Atomic int next_id;       /* next guest id of a process or thread */
    int outside_host_pgrp;     /* host id of the process group that FAMILY_OUTSIDE stands for */
    int outside_host_session;  /* the same for its session */
    _Atomic bool leads;        /* the first process leads that group, and the guest has made the group its own */
    _Atomic int lock;          /* spin lock of the ring; 1: taken */
    _Atomic int holder;        /* index of the member that holds the baton; -1: nobody */
    _Atomic int ring_count;    /* number of members in the ring */
    _Atomic uint64_t clock_ns; /* guest time at which the baton was last passed */
    _Atomic uint32_t idle;     /* consecutive holders that had no runnable thread */
    _Atomic uint32_t changes;  /* number of changes of state of all members so far */
    struct ipc *ipc;           /* System V semaphores and message queues, at this address in all processes */
    _Atomic bool overlay_made; /* the upper layer of the sysroot exists (overlay.h) */
    char overlay_path[512];    /* host path of its folder */
    struct member members[FAMILY_SIZE];
};

struct family *family_new(struct error *err) MUST_CHECK; /* NULL with a message in `err` if it fails */
void family_free(struct family *f);                      /* releases this process's mapping of the tables */

int family_new_id(struct family *f); /* a guest id for a new thread */
/* Adds an entry for a process that is about to be forked, with a new guest pid. NULL if the table is full. */
struct member *family_add(struct family *f, int parent_pid);
void family_drop(struct family *f, struct member *m); /* undoes family_add after the fork failed */
void family_reap(struct family *f, struct member *m); /* the parent has waited for the process */
void family_orphan(
    struct family *f,
    int parent_pid); /* gives the children of an ended process to the next subreaper above it, or to init */

/* Sets the host process of a member. It must exist and must not have been waited for. */
void member_set_host(struct member *m, int host_pid);
bool member_runs(const struct member *m); /* its host process exists and is not a zombie */
/* Returns a pidfd of the member's host process, or -ESRCH if that is gone, also if its pid belongs to another process
 * now. */
int member_open(const struct member *m) MUST_CHECK;
/* Sends a signal to the member's host process, with `info` if it is not NULL, and never to another process. If the
 * process is gone, returns -ESRCH and marks the member as reaped. `*pidfd`, if not NULL, receives an open pidfd. */
int member_signal(struct family *f, struct member *m, int sig, const siginfo_t *info, int *pidfd) MUST_CHECK;

/* Whether the guest can still signal the process or wait for it. */
static inline bool member_exists(const struct member *m)
{
    return m->state == MEMBER_ALIVE || m->state == MEMBER_STOPPED || m->state == MEMBER_ENDED;
}

/* Find a member by its guest or host pid. May return a reaped member; NULL if unknown. */
struct member *family_by_guest(struct family *f, int guest_pid);
struct member *family_by_host(struct family *f, int host_pid);
/* Iterates over the members that exist, in the order of the table: returns the first for NULL, NULL after the last. */
struct member *family_next(struct family *f, const struct member *after);

/* Translates the guest id of a process or process group; 0 stays 0. -ESRCH if unknown. */
int family_to_host(struct family *f, int guest_pid);
int family_to_guest(struct family *f, int host_pid); /* 0 stays 0; FAMILY_OUTSIDE if unknown */
/* Translates the host id of a process group or session. The group and the session that the run was started in are
 * FAMILY_OUTSIDE, even if our first process leads them: an interactive shell starts a run so, a script does not. The
 * host returns 0 for one with a leader outside of the emulator's pid namespace, which is FAMILY_OUTSIDE as well. */
int family_group_to_guest(struct family *f, int host_id);

#endif
