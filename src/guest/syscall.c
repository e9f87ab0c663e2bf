#include "guest/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>

#include "guest/shadow_priv.h"

struct syscall_row {
    syscall_fn *function; /* NULL if it is refused or missing */
    const char *name;
    int refused; /* with this error; 0 if it is missing */
};

static const struct syscall_row rows[] = {
#define SYSCALL(number, name)                [number] = {sys_##name, #name, 0},
#define SYSCALL_REFUSED(number, name, error) [number] = {NULL, #name, error},
#define SYSCALL_MISSING(number, name)        [number] = {NULL, #name, 0},
#include "guest/syscall.def"
#undef SYSCALL
#undef SYSCALL_REFUSED
#undef SYSCALL_MISSING
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const char *syscall_name(uint64_t number)
{
    return number < ROW_COUNT && rows[number].name ? rows[number].name : "?";
}

static int64_t call_absent(struct process *p, uint64_t number)
{
    if (number < ROW_COUNT && rows[number].refused)
        return -rows[number].refused;
    const unsigned bits = 8 * sizeof p->missing_named;
    uint64_t slot = number < bits ? number : bits - 1; /* all numbers beyond any table count as one */
    uint64_t *word = &p->missing_named[slot / 64], bit = UINT64_C(1) << slot % 64;
    if (!(*word & bit)) {
        *word |= bit;
        fprintf(stderr, "cyclescope: system call %s(%llu) is not there\n", syscall_name(number),
                (unsigned long long)number);
    }
    return -ENOSYS;
}

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
    if (t->process->shadow)
        function = shadow_call(number, function);
    t->call.begun = true;
    t->call.fd_count = 0;
    host_signal_block_tty(t);
    int64_t result = function ? function(t, args) : call_absent(t->process, number);
    switch (result) {
    case SYSCALL_RETRY: break;
    case SYSCALL_NO_RESULT: call_reset(t); break;
    case -EINTR: t->call.interrupted = true; break;
    default: finish(t, result);
    }
}

/* Linux's ERESTARTSYS as against ERESTARTNOHAND and ERESTART_RESTARTBLOCK: see signal(7). */
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
    case 192: /* semtimedop */
    case 441: /* epoll_pwait2 */ return false;
    case 98: { /* futex: a wait with a timeout would begin its timeout anew */
        uint64_t command = h->x[REG_A1] & FUTEX_CMD_MASK;
        return (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) || h->x[REG_A0 + 3] == 0;
    }
    default: return true;
    }
}
