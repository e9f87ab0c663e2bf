/* The system-call table (syscall.def), and the dispatcher that runs when a thread executes an `ecall`. */
#ifndef CYCLESCOPE_GUEST_SYSCALLS_SYSCALL_H
#define CYCLESCOPE_GUEST_SYSCALLS_SYSCALL_H

#include "guest/process_priv.h"

/* Executes the system call at the `pc` of thread `t`. A finished call leaves its result in a0 and `pc` after the
 * `ecall`. A call that put the thread to sleep leaves `pc` at the `ecall`, and is executed again when the thread
 * wakes. */
void syscall_dispatch(struct thread *t);

/* Result of a call without a function. Reports each call that is not implemented once on standard error. */
int64_t syscall_without_function(struct process *p, uint64_t number);
const char *syscall_name(uint64_t number); /* "?" for a number that Linux does not define */

/* True if the interrupted call at the hart's `pc` is executed again after a handler with SA_RESTART, false if it fails
 * with EINTR. */
bool syscall_restarts(const struct hart *h);

/* One function for each SYSCALL row: Linux's result, SYSCALL_RETRY or SYSCALL_NO_RESULT (process_priv.h). */
#define SYSCALL(number, name, copy) syscall_fn sys_##name;
#define SYSCALL_REFUSED(number, name, error)
#define SYSCALL_MISSING(number, name)
#include "guest/syscalls/syscall.def"
#undef SYSCALL
#undef SYSCALL_REFUSED
#undef SYSCALL_MISSING

#endif
