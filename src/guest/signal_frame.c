/* The frame on the stack of a thread in a signal handler, in exactly the layout of Linux for riscv64. */
#include <stddef.h>
#include <string.h>

#include "guest/process_priv.h"

struct guest_stack {
    uint64_t sp;
    int32_t flags, pad;
    uint64_t size;
};

struct guest_ucontext {
    uint64_t flags, link;
    struct guest_stack stack;
    uint64_t sigmask;
    uint8_t sigmask_room[120];                      /* padding: Linux reserves 1024 bits for the set */
    uint64_t regs[32] __attribute__((aligned(16))); /* pc, x1 to x31 */
    uint64_t f[32];
    uint32_t fcsr;
    uint8_t fp_room[528 - 260]; /* padding to the size of quad precision; the last 12 bytes end the extension list */
};

struct guest_frame {
    siginfo_t info;
    struct guest_ucontext uc;
};

_Static_assert(sizeof(siginfo_t) == 128, "siginfo");
_Static_assert(offsetof(struct guest_ucontext, regs) == 176, "ucontext");
_Static_assert(sizeof(struct guest_frame) == SIGNAL_FRAME_BYTES, "frame");

bool signal_stack_in_use(const struct thread *t, uint64_t sp)
{
    const struct signal_stack *s = &t->signal_stack;
    return !(s->flags & (SS_DISABLE | SIGNAL_STACK_AUTODISARM)) && sp > s->sp && sp - s->sp <= s->size;
}

/* Returns the address of the frame: below the stack pointer, or at the top of the alternate stack. 0 if the alternate
 * stack would overflow. */
static uint64_t frame_address(const struct thread *t, const struct signal_action *action)
{
    const struct signal_stack *s = &t->signal_stack;
    uint64_t sp = t->hart.x[REG_SP];
    bool in_use = signal_stack_in_use(t, sp);
    bool switches = (action->flags & SA_ONSTACK) && !(s->flags & SS_DISABLE) && !in_use;
    if (switches)
        sp = s->sp + s->size;
    if (sp < sizeof(struct guest_frame) + 16)
        return 0;
    uint64_t frame = (sp - sizeof(struct guest_frame)) & ~UINT64_C(15);
    if (in_use && !signal_stack_in_use(t, frame))
        return 0;
    return frame;
}

bool signal_push_frame(struct thread *t, const siginfo_t *info, const struct signal_action *action, uint64_t mask)
{
    struct hart *h = &t->hart;
    struct guest_frame frame;
    uint64_t addr = frame_address(t, action);
    if (addr == 0)
        return false;
    memset(&frame, 0, sizeof frame);
    frame.info = *info;
    frame.uc.stack.sp = t->signal_stack.sp;
    frame.uc.stack.size = t->signal_stack.size;
    frame.uc.stack.flags = t->signal_stack.flags;
    if (signal_stack_in_use(t, h->x[REG_SP]))
        frame.uc.stack.flags |= SS_ONSTACK;
    frame.uc.sigmask = mask;
    frame.uc.regs[0] = h->pc;
    memcpy(&frame.uc.regs[1], &h->x[1], 31 * sizeof h->x[0]);
    memcpy(frame.uc.f, h->f, sizeof frame.uc.f);
    frame.uc.fcsr = h->frm << 5 | h->fflags;
    if (guest_copy_out(t->process->memory, addr, &frame, sizeof frame) < 0)
        return false;
    if (t->signal_stack.flags & SIGNAL_STACK_AUTODISARM)
        t->signal_stack = (struct signal_stack){0, 0, SS_DISABLE};

    h->x[REG_SP] = addr;
    h->x[REG_RA] = t->process->trampoline;
    h->x[REG_A0] = (uint64_t)info->si_signo;
    h->x[REG_A1] = addr + offsetof(struct guest_frame, info);
    h->x[REG_A2] = addr + offsetof(struct guest_frame, uc);
    hart_return_to(h, action->handler);
    h->reserved_addr = NO_RESERVATION;
    return true;
}

bool signal_pop_frame(struct thread *t)
{
    struct hart *h = &t->hart;
    struct guest_frame frame;
    if (h->x[REG_SP] % 16 != 0 || guest_copy_in(t->process->memory, &frame, h->x[REG_SP], sizeof frame) < 0)
        return false;
    signal_set_blocked(t, frame.uc.sigmask);
    hart_return_to(h, frame.uc.regs[0]);
    memcpy(&h->x[1], &frame.uc.regs[1], 31 * sizeof h->x[0]);
    memcpy(h->f, frame.uc.f, sizeof h->f);
    h->fflags = frame.uc.fcsr & 31;
    h->frm = frame.uc.fcsr >> 5 & 7;
    h->reserved_addr = NO_RESERVATION;
    /* Restore the alternate stack under the rules of sigaltstack: not while in use, and not with unknown flags. */
    const struct guest_stack *s = &frame.uc.stack;
    int known = SS_ONSTACK | SS_DISABLE | SIGNAL_STACK_AUTODISARM;
    if (!signal_stack_in_use(t, h->x[REG_SP]) && (s->flags & ~known) == 0)
        t->signal_stack = (struct signal_stack){s->sp, s->size, s->flags & ~SS_ONSTACK};
    return true;
}
