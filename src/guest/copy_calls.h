/* Functions that stand in for system calls in a copied process, one for each row of syscall.def with the rule INSIDE.
 */
#ifndef CYCLESCOPE_GUEST_COPY_CALLS_H
#define CYCLESCOPE_GUEST_COPY_CALLS_H

#include "guest/process_priv.h"

#define DECLARE_PASS(name)
#define DECLARE_OWN(name)
#define DECLARE_INSIDE(name) syscall_fn copy_sys_##name;
#define DECLARE_ENDS(name)
#define SYSCALL(number, name, copy) DECLARE_##copy(name)
#define SYSCALL_REFUSED(number, name, error)
#define SYSCALL_MISSING(number, name)
#include "guest/syscalls/syscall.def"
#undef SYSCALL
#undef SYSCALL_REFUSED
#undef SYSCALL_MISSING
#undef DECLARE_PASS
#undef DECLARE_OWN
#undef DECLARE_INSIDE
#undef DECLARE_ENDS

#endif
