/* New processes: each is a host process with a copy of the emulator and of the guest's memory.
 *
 * A vfork child has a copy of its parent's memory instead of sharing it, and the parent waits until the child starts a
 * program or ends. If it ends without, what it wrote to its parent's stack is copied back: there C libraries
 * leave word of why the program could not be started. */
#ifndef CYCLESCOPE_GUEST_FORK_H
#define CYCLESCOPE_GUEST_FORK_H

#include "guest/process_priv.h"

/* Linux's struct clone_args, up to what is used. */
struct clone_request {
    uint64_t flags;
    uint64_t pidfd;      /* guest address that receives a descriptor for the child, with CLONE_PIDFD */
    uint64_t child_tid;  /* guest address, with CLONE_CHILD_SETTID and CLONE_CHILD_CLEARTID */
    uint64_t parent_tid; /* guest address, with CLONE_PARENT_SETTID */
    uint64_t exit_signal;
    uint64_t stack;       /* the child's stack pointer, or 0 for the parent's */
    uint64_t stack_bytes; /* for clone3, which gives the lowest address; else 0 */
    uint64_t tls;         /* with CLONE_SETTLS */
};

/* What a new thread or process takes from the request, in its own memory. */
void clone_apply(struct thread *t, const struct clone_request *request);
/* Result in parent and child as for fork(2). */
int64_t process_fork(struct thread *t, const struct clone_request *request);

/* vfork.c */
int vfork_prepare(int ends[2]) MUST_CHECK; /* read and write end of the pipe; 0 or a negative errno */
int64_t vfork_wait(struct thread *t);      /* the call goes on; the child's pid at the end */
void vfork_release_parent(struct process *p, bool with_stack); /* in the child; nothing if it is not one of vfork */

/* sys_wait.c */
void wait_reap_all(struct process *p); /* for a guest that ignores SIGCHLD: nobody waits for its children */

#endif
