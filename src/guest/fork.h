/* fork and vfork. A new guest process is a new host process, with a copy of the emulator and of the guest's memory.
 *
 * A vfork child also gets a copy of its parent's memory instead of sharing it. The parent waits until the child has
 * started a program or has ended. If the child ends without starting a program, the pages that it wrote of the parent's
 * stack are copied back to the parent: C libraries report there why the program could not be started. */
#ifndef CYCLESCOPE_GUEST_FORK_H
#define CYCLESCOPE_GUEST_FORK_H

#include "guest/process_priv.h"

/* The used part of Linux's struct clone_args, with the same layout. */
struct clone_request {
    uint64_t flags;       /* CLONE_ flags */
    uint64_t pidfd;       /* CLONE_PIDFD: guest address that receives a descriptor of the child */
    uint64_t child_tid;   /* CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID: guest address */
    uint64_t parent_tid;  /* CLONE_PARENT_SETTID: guest address */
    uint64_t exit_signal; /* only checked to be a signal number; the parent always receives SIGCHLD */
    uint64_t stack;       /* stack pointer of the child; 0: that of the parent */
    uint64_t stack_bytes; /* clone3: size of the stack, and `stack` is its lowest address; 0 for clone */
    uint64_t tls;         /* CLONE_SETTLS: thread pointer of the child */
};

/* Applies the request to a new thread, or to the thread of a new process, in the memory of that process. */
void clone_apply(struct thread *t, const struct clone_request *request);
/* Returns in parent and child what fork(2) returns. */
int64_t process_fork(struct thread *t, const struct clone_request *request);

/* vfork.c */
int vfork_prepare(int ends[2]) MUST_CHECK; /* makes a pipe: `ends` are its read and write end; 0 or a negative errno */
int64_t vfork_wait(struct thread *t); /* the parent waits for the child: SYSCALL_RETRY, at the end the child's pid */
/* The child lets its parent continue; with `with_stack`, copies the parent's stack back first. Has no effect in a
 * process that was not made by vfork or that has called this before. */
void vfork_release_parent(struct process *p, bool with_stack);

/* sys_wait.c */
void wait_reap_all(struct process *p); /* reaps all ended children, for a guest that ignores SIGCHLD */

#endif
