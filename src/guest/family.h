/* The processes of one run: the first one and all that it forked, each an emulator process of the host.
 *
 * A table in memory that they all share gives out ids in sequence, translates between guest and host ids, keeps what an
 * ended process hands to its parent, and says whose turn it is to run (baton.h). Ids of the outside world (the caller's
 * process group, a parent that is gone) have no entry, except that FAMILY_OUTSIDE stands for the process group that the
 * run was started in.
 *
 * Limits: FAMILY_SIZE processes and process groups can be told apart; the entry of a process that was reaped stays
 * until its place is needed, since its process group may live on. */
#ifndef CYCLESCOPE_GUEST_FAMILY_H
#define CYCLESCOPE_GUEST_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum {
    FAMILY_INIT = 1,      /* parent of processes whose own has ended */
    FAMILY_OUTSIDE = 999, /* parent and process group of the first process */
    FAMILY_FIRST = 1000,  /* its pid */
    FAMILY_SIZE = 16384,
};

enum member_state {
    MEMBER_FREE,
    MEMBER_ALIVE,   /* runs when it is its turn */
    MEMBER_STOPPED, /* by SIGSTOP or its kin */
    MEMBER_ENDED,   /* its parent has not waited for it yet */
    MEMBER_REAPED,  /* only its id means something still */
};

struct member {
    _Atomic int state; /* enum member_state */
    _Atomic int guest_pid, host_pid;
    _Atomic int parent_pid;       /* guest's id */
    _Atomic uint64_t insns;       /* retired by it and by the children that it reaped */
    _Atomic bool seen;            /* its parent knows of its last change of state */
    _Atomic int stop_signal;      /* what stopped it last */
    _Atomic uint32_t turn;        /* 1: it may run; the host process sleeps on this word */
    _Atomic int next, previous;   /* in the ring of those that take turns; by index, -1 outside of it */
    _Atomic uint64_t deadline_ns; /* when nothing else wakes it, its guest time to go on, or NEVER */
    _Atomic bool outside;         /* something outside of the family may wake it as well */
};

struct family {
    _Atomic int next_id;
    int outside_host_pgrp;     /* what FAMILY_OUTSIDE is called on the host */
    _Atomic int lock;          /* on the ring: 1 while it is being changed */
    _Atomic int holder;        /* index of the member whose turn it is, or -1 */
    _Atomic int ring_count;    /* members that take turns */
    _Atomic uint64_t clock_ns; /* guest time when the turn was last passed on */
    _Atomic uint32_t idle;     /* members in sequence that had their turn and nothing to do */
    _Atomic uint32_t changes;  /* of state, of all members so far */
    struct member members[FAMILY_SIZE];
};

struct family *family_new(struct error *err) MUST_CHECK;
void family_free(struct family *f);

int family_new_id(struct family *f);                         /* for a thread */
struct member *family_add(struct family *f, int parent_pid); /* a new process; NULL if the table is full */
void family_drop(struct family *f, struct member *m);        /* the fork failed */
void family_reap(struct family *f, struct member *m);
void family_orphan(struct family *f, int parent_pid); /* its children are init's from now on */

static inline bool member_exists(const struct member *m)
{
    return m->state == MEMBER_ALIVE || m->state == MEMBER_STOPPED || m->state == MEMBER_ENDED;
}

struct member *family_by_guest(struct family *f, int guest_pid); /* NULL if unknown; reaped ones too */
struct member *family_by_host(struct family *f, int host_pid);
struct member *family_next(struct family *f, const struct member *after); /* over those that exist; start with NULL */

/* For ids of processes and of process groups; 0 stays 0. -ESRCH if the id means nothing here. */
int family_to_host(struct family *f, int guest_pid);
int family_to_guest(struct family *f, int host_pid); /* FAMILY_OUTSIDE if unknown */
/* The same of a group or session, which the host calls 0 where its leader lives outside the host's own pid namespace.
 */
int family_group_to_guest(struct family *f, int host_id);

#endif
