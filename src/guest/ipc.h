/* System V semaphores and message queues: objects of the family (family.h), in memory that all its processes share.
 *
 * The host's own System V IPC is not touched, and nothing stays behind. The table is in use by one process at a time:
 * by the holder of the baton, or with --host-time by who has the lock. A call that would block remembers the number of
 * changes that it has seen, and is made again once the table has changed (`call.ipc_waiting`). Waiters are not queued:
 * of those that can go on, the first whose turn it is does.
 *
 * Limits: all processes of a family may use all objects, whatever the permission bits say. IPC_INFO and the calls that
 * list objects by index fail with EINVAL. Semaphores of all sets together, sets, queues and adjustments by SEM_UNDO
 * have the limits below. */
#ifndef CYCLESCOPE_GUEST_IPC_H
#define CYCLESCOPE_GUEST_IPC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct thread;

enum {
    IPC_SETS_MAX = 128,
    IPC_SEMAPHORES_MAX = 32000, /* of all sets, and as in Linux of one set */
    IPC_UNDOS_MAX = 4096,
    IPC_WAITERS_MAX = 1024,
    IPC_QUEUES_MAX = 64,
    IPC_QUEUE_BYTES = 16384,  /* Linux's MSGMNB */
    IPC_MESSAGE_BYTES = 8192, /* Linux's MSGMAX */
};

/* What sets and queues have in common. */
struct ipc_object {
    int id;  /* 0: unused */
    int key; /* 0 (IPC_PRIVATE): none */
    uint32_t uid, gid, creator_uid, creator_gid, mode;
    int64_t changed_s; /* guest time of its creation or last IPC_SET */
};

struct semaphore {
    int pid;   /* guest process that changed it last */
    int value; /* 0 to 32767 */
};

struct semaphore_set {
    struct ipc_object object;
    unsigned first, count; /* its semaphores in ipc.semaphores */
    int64_t operated_s;    /* time of the last semop */
};

/* What the end of a process adds to a semaphore (SEM_UNDO). */
struct semaphore_undo {
    int pid; /* 0: unused */
    int set; /* id */
    unsigned number;
    int adjust;
};

/* A thread that waits in semop, for GETNCNT and GETZCNT. */
struct semaphore_waiter {
    int pid, tid; /* pid 0: unused */
    int set;      /* id */
    unsigned number;
    bool for_zero;
};

struct message_header {
    int64_t type;
    uint64_t bytes;
};

struct message_queue {
    struct ipc_object object;
    int64_t sent_s, received_s;
    int sender, receiver;  /* guest processes that sent and received last */
    unsigned count;        /* messages in it */
    uint64_t bytes, limit; /* bytes of their texts; most that they may have */
    uint64_t used;         /* bytes of `data` in use: each message is a header and its text */
    char data[IPC_QUEUE_BYTES * (1 + sizeof(struct message_header))]; /* a queue may be full of empty messages */
};

struct ipc {
    pthread_mutex_t mutex;
    _Atomic uint32_t changes; /* grows with each change that may let a waiting call go on */
    int last_id;
    unsigned semaphore_count; /* of all sets, which lie one behind the other */
    struct semaphore semaphores[IPC_SEMAPHORES_MAX];
    struct semaphore_set sets[IPC_SETS_MAX];
    struct semaphore_undo undos[IPC_UNDOS_MAX];
    struct semaphore_waiter waiters[IPC_WAITERS_MAX];
    struct message_queue queues[IPC_QUEUES_MAX];
};

/* A table without objects, in memory that forked processes share. NULL with a message in `err` if it fails. */
struct ipc *ipc_new(struct error *err) MUST_CHECK;
void ipc_free(struct ipc *ipc);
void ipc_copy(struct ipc *to, const struct ipc *from); /* `to` is empty */
bool ipc_in_use(const struct ipc *ipc);                /* there is a set or a queue */

void ipc_lock(struct ipc *ipc);
void ipc_unlock(struct ipc *ipc);
/* Unlocks the table and lets the call of `t` sleep until the table changes or until `deadline_ns`. Returns
 * SYSCALL_RETRY or -EINTR. */
int64_t ipc_wait(struct thread *t, uint64_t deadline_ns);
bool ipc_changed(const struct thread *t); /* the table has changed since ipc_wait */

/* A new object with a new id; the caller has checked that there is room. */
struct ipc_object ipc_object_new(struct thread *t, int key, int flags);
/* The guest's struct ipc64_perm, with which the status of every object begins. */
struct guest_ipc_perm {
    int32_t key;
    uint32_t uid, gid, cuid, cgid, mode;
    uint16_t sequence, pad[3];
    uint64_t unused[2];
};
struct guest_ipc_perm ipc_perm_out(const struct ipc_object *o);
void ipc_perm_in(struct thread *t, struct ipc_object *o, const struct guest_ipc_perm *perm); /* IPC_SET */
int64_t ipc_seconds(const struct thread *t); /* guest time, for the status of an object */

/* sys_sem.c: a process has ended: makes its SEM_UNDO adjustments. May be called again. */
void ipc_process_ended(struct ipc *ipc, int pid);
void ipc_forget_waiters(struct ipc *ipc, int pid, int tid); /* of one thread; tid 0: of the whole process */

#endif
