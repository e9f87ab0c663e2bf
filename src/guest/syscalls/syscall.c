#include "guest/syscalls/syscall.h"

#include <errno.h>
#include <linux/futex.h>

#include "guest/files_priv.h"
#include "guest/process_copy_priv.h"

struct syscall_row {
    syscall_fn *function; /* NULL: the call is refused or not implemented */
    const char *name;
    int refused_errno; /* errno that a refused call fails with; 0: not refused */
};

static const struct syscall_row rows[] = {
#define SYSCALL(number, name, copy)          [number] = {sys_##name, #name, 0},
#define SYSCALL_REFUSED(number, name, error) [number] = {NULL, #name, error},
#define SYSCALL_MISSING(number, name)        [number] = {NULL, #name, 0},
#include "guest/syscalls/syscall.def"
#undef SYSCALL
#undef SYSCALL_REFUSED
#undef SYSCALL_MISSING
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const char *syscall_name(uint64_t number)
{
    return number < ROW_COUNT && rows[number].name ? rows[number].name : "?";
}

int64_t syscall_without_function(struct process *p, uint64_t number)
{
    if (number < ROW_COUNT && rows[number].refused_errno)
        return -rows[number].refused_errno;
    const unsigned bits = 8 * sizeof p->missing_named;
    uint64_t slot = number < bits ? number : bits - 1; /* all higher numbers share the last bit */
    uint64_t *word = &p->missing_named[slot / 64], bit = UINT64_C(1) << slot % 64;
    if (!(*word & bit)) {
        *word |= bit;
        files_say(p->files, "system call %s (%llu) is not implemented and fails with ENOSYS", syscall_name(number),
                  (unsigned long long)number);
    }
    return -ENOSYS;
}

/* Completes a call: restores the signal mask that the call replaced, sets a0 and moves `pc` past the `ecall`. */
static void finish(struct thread *t, int64_t result)
{
    if (t->call.mask_saved)
        signal_set_blocked(t, t->call.saved_mask);
    call_reset(t);
    t->hart.x[REG_A0] = (uint64_t)result;
    t->hart.pc += 4;
}

void syscall_dispatch(struct thread *t)
{
    uint64_t number = t->hart.x[REG_A7], args[6];
    for (int i = 0; i < 6; i++)
        args[i] = t->hart.x[REG_A0 + i];
    syscall_fn *function = number < ROW_COUNT ? rows[number].function : NULL;
    t->call.begun = true;
    t->call.fd_count = 0;
    host_signal_block_tty(t);
    int64_t result;
    if (t->process->copy)
        result = copy_syscall(t, number, args);
    else
        result = function ? function(t, args) : syscall_without_function(t->process, number);
    switch (result) {
    case SYSCALL_RETRY: break;
    case SYSCALL_NO_RESULT: call_reset(t); break;
    case -EINTR: t->call.interrupted = true; break;
    default: finish(t, result);
    }
}

/* The calls listed here fail with EINTR in any case (Linux's ERESTARTNOHAND and ERESTART_RESTARTBLOCK); all others
 * restart (ERESTARTSYS). See signal(7). */
bool syscall_restarts(const struct hart *h)
{
    switch (h->x[REG_A7]) {
    case 4:   /* io_getevents */
    case 22:  /* epoll_pwait */
    case 72:  /* pselect6 */
    case 73:  /* ppoll */
    case 101: /* nanosleep */
    case 115: /* clock_nanosleep */
    case 133: /* rt_sigsuspend */
    case 137: /* rt_sigtimedwait */
    case 188: /* msgrcv */
    case 189: /* msgsnd */
    case 192: /* semtimedop */
    case 193: /* semop */
    case 441: /* epoll_pwait2 */ return false;
    case 98: { /* futex: restarting a wait with a timeout would start the timeout again */
        uint64_t command = h->x[REG_A1] & FUTEX_CMD_MASK;
        return (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) || h->x[REG_A0 + 3] == 0;
    }
    default: return true;
    }
}
