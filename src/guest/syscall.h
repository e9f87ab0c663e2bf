/* The table of system calls and what happens at an `ecall`. */
#ifndef CYCLESCOPE_GUEST_SYSCALL_H
#define CYCLESCOPE_GUEST_SYSCALL_H

#include "guest/process_priv.h"

/* Does the call that thread `t` stands at and leaves its result in a0 with `pc` past the `ecall`; a call that put the
 * thread to sleep leaves `pc` at the `ecall`, to be made again. */
void syscall_dispatch(struct thread *t);

const char *syscall_name(uint64_t number); /* "?" for a number that Linux does not know either */

/* Whether the interrupted call that the hart stands at is made again after a handler with SA_RESTART. */
bool syscall_restarts(const struct hart *h);

#define SYSCALL(number, name) syscall_fn sys_##name;
#define SYSCALL_REFUSED(number, name, error)
#define SYSCALL_MISSING(number, name)
#include "guest/syscall.def"
#undef SYSCALL
#undef SYSCALL_REFUSED
#undef SYSCALL_MISSING

#endif
