/* futex(2) with priority-inheritance locks, and robust lists. guest/futex.h describes the queues.
 *
 * A wait is executed again when its thread wakes; `call.futex` of the thread holds its state in between. */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/futex.h"
#include "guest/syscalls/syscall.h"
#include "guest/time_convert.h"

/* Host address of a futex word, or NULL if the word is not aligned or not accessible. */
static uint32_t *futex_word(const struct process *p, uint64_t addr, int prot)
{
    return addr % sizeof(uint32_t) == 0 ? guest_ptr(p->memory, addr, sizeof(uint32_t), prot) : NULL;
}

static uint32_t word_load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static bool is_shared(const struct process *p, uint64_t addr)
{
    const struct guest_area *area = guest_area_at_or_above(p->memory, addr);
    return area && area->flags & MAP_SHARED;
}

/* Longest waiting thread on `addr` with a common bit in `bitset`, or NULL. */
static struct thread *first_waiter(const struct process *p, uint64_t addr, uint32_t bitset)
{
    struct thread *first = NULL;
    for (struct thread *t = p->threads; t; t = t->next) {
        const struct futex_wait *f = &t->call.futex;
        if (f->waiting && f->addr == addr && (f->bitset & bitset) && !t->exited &&
            (!first || f->sequence < first->call.futex.sequence))
            first = t;
    }
    return first;
}

static void wake_waiter(struct thread *t)
{
    t->call.futex.waiting = false;
    t->call.futex.woken = true;
    thread_wake(t);
}

int futex_wake(struct process *p, uint64_t addr, uint32_t count, uint32_t bitset)
{
    int woken = 0;
    struct thread *t;
    while ((uint32_t)woken < count && (t = first_waiter(p, addr, bitset)) != NULL) {
        wake_waiter(t);
        woken++;
    }
    return woken;
}

/* Reads the timeout at guest address `addr` and converts it to a deadline on the guest's monotonic clock; NEVER if
 * `addr` is 0. `wall` selects the wall clock for an absolute timeout. */
static int64_t read_deadline(const struct process *p, uint64_t addr, bool absolute, bool wall, uint64_t *deadline)
{
    struct timespec ts;
    *deadline = NEVER;
    if (addr == 0)
        return 0;
    if (guest_copy_in(p->memory, &ts, addr, sizeof ts) < 0)
        return -EFAULT;
    if (!timespec_valid(&ts))
        return -EINVAL;
    uint64_t ns = timespec_to_ns(&ts);
    if (!absolute)
        *deadline = time_add(process_time_ns(p), ns);
    else
        *deadline = wall ? wall_to_monotonic_ns(p, ns) : ns;
    return 0;
}

/* Queues the thread and puts it to sleep. When the call is executed again, returns why the thread woke: 0 for a
 * wake-up or a changed shared word, -ETIMEDOUT, or -EINTR. */
static int64_t queue_and_sleep(struct thread *t, uint64_t addr, uint32_t value, uint32_t bitset, uint64_t deadline)
{
    struct process *p = t->process;
    struct futex_wait *f = &t->call.futex;
    if (f->woken)
        return 0;
    if (f->waiting && f->shared) {
        const uint32_t *word = futex_word(p, f->addr, PROT_READ);
        if (!word || word_load(word) != f->value)
            return 0;
    }
    if (call_timed_out(t) || (!f->waiting && deadline <= process_time_ns(p)))
        return -ETIMEDOUT;
    if (!f->waiting)
        *f = (struct futex_wait){.waiting = true,
                                 .shared = is_shared(p, addr),
                                 .addr = addr,
                                 .value = value,
                                 .bitset = bitset,
                                 .sequence = ++p->futex_sequence};
    int64_t result = call_sleep(t, deadline);
    if (result != SYSCALL_RETRY)
        f->waiting = false;
    return result;
}

static int64_t futex_wait(struct thread *t, const uint64_t a[6], uint32_t bitset, bool absolute)
{
    struct process *p = t->process;
    uint64_t deadline;
    const uint32_t *word = futex_word(p, a[0], PROT_READ);
    if (!word)
        return -EFAULT;
    if (bitset == 0)
        return -EINVAL;
    int64_t result = read_deadline(p, a[3], absolute, a[1] & FUTEX_CLOCK_REALTIME, &deadline);
    if (result < 0)
        return result;
    bool begun = t->call.futex.waiting || t->call.futex.woken;
    if (!begun && word_load(word) != (uint32_t)a[2])
        return -EAGAIN;
    return queue_and_sleep(t, a[0], (uint32_t)a[2], bitset, deadline);
}

static int64_t futex_requeue(struct process *p, const uint64_t a[6], bool compare)
{
    const uint32_t *from = futex_word(p, a[0], PROT_READ), *to = futex_word(p, a[4], PROT_READ);
    if (!from || !to)
        return -EFAULT;
    if ((int32_t)a[2] < 0 || (int32_t)a[3] < 0)
        return -EINVAL;
    if (compare && word_load(from) != (uint32_t)a[5])
        return -EAGAIN;
    int count = futex_wake(p, a[0], (uint32_t)a[2], FUTEX_BITSET_MATCH_ANY);
    struct thread *t;
    for (uint32_t moved = 0; moved < (uint32_t)a[3] && a[0] != a[4]; moved++) {
        if ((t = first_waiter(p, a[0], FUTEX_BITSET_MATCH_ANY)) == NULL)
            break;
        t->call.futex.addr = a[4];
        t->call.futex.value = word_load(to);
        t->call.futex.sequence = ++p->futex_sequence;
        count++;
    }
    return count;
}

/* FUTEX_WAKE_OP: changes a second word, and also wakes its waiters if its old value satisfies the comparison. */
static int64_t futex_wake_op(struct process *p, const uint64_t a[6])
{
    uint32_t code = (uint32_t)a[5], *word = futex_word(p, a[4], PROT_READ | PROT_WRITE);
    if (!futex_word(p, a[0], PROT_READ) || !word)
        return -EFAULT;
    uint32_t operand = code >> 12 & 0xfff, bound = code & 0xfff;
    uint32_t old = word_load(word), new;
    if (operand & 0x800)
        operand |= 0xfffff000;
    if (bound & 0x800)
        bound |= 0xfffff000;
    if (code >> 28 & FUTEX_OP_OPARG_SHIFT)
        operand = UINT32_C(1) << (operand & 31);
    switch (code >> 28 & 7) {
    case FUTEX_OP_SET: new = operand; break;
    case FUTEX_OP_ADD: new = old + operand; break;
    case FUTEX_OP_OR: new = old | operand; break;
    case FUTEX_OP_ANDN: new = old & ~operand; break;
    case FUTEX_OP_XOR: new = old ^ operand; break;
    default: return -ENOSYS;
    }
    bool matches;
    switch (code >> 24 & 15) {
    case FUTEX_OP_CMP_EQ: matches = old == bound; break;
    case FUTEX_OP_CMP_NE: matches = old != bound; break;
    case FUTEX_OP_CMP_LT: matches = (int32_t)old < (int32_t)bound; break;
    case FUTEX_OP_CMP_GE: matches = (int32_t)old >= (int32_t)bound; break;
    case FUTEX_OP_CMP_LE: matches = (int32_t)old <= (int32_t)bound; break;
    case FUTEX_OP_CMP_GT: matches = (int32_t)old > (int32_t)bound; break;
    default: return -ENOSYS;
    }
    __atomic_store_n(word, new, __ATOMIC_SEQ_CST);
    int woken = futex_wake(p, a[0], (uint32_t)a[2], FUTEX_BITSET_MATCH_ANY);
    if (matches)
        woken += futex_wake(p, a[4], (uint32_t)a[3], FUTEX_BITSET_MATCH_ANY);
    return woken;
}

/* ---- priority-inheritance locks: the unlocking call hands the lock over; without priorities nothing is inherited */

/* Gives the lock to the first waiter, or marks it free. `died` is FUTEX_OWNER_DIED or 0 and goes into the word. */
static void pi_hand_over(struct process *p, uint64_t addr, uint32_t *word, uint32_t died)
{
    struct thread *next = first_waiter(p, addr, FUTEX_BITSET_MATCH_ANY);
    if (!next) {
        __atomic_store_n(word, died, __ATOMIC_SEQ_CST);
        return;
    }
    wake_waiter(next);
    uint32_t waiters = first_waiter(p, addr, FUTEX_BITSET_MATCH_ANY) ? FUTEX_WAITERS : 0;
    __atomic_store_n(word, (uint32_t)next->tid | waiters | died, __ATOMIC_SEQ_CST);
}

static int64_t futex_lock_pi(struct thread *t, const uint64_t a[6], bool try, bool wall)
{
    struct process *p = t->process;
    uint64_t deadline = NEVER;
    uint32_t *word = futex_word(p, a[0], PROT_READ | PROT_WRITE);
    if (!word)
        return -EFAULT;
    int64_t result = try ? 0 : read_deadline(p, a[3], true, wall, &deadline);
    if (result < 0)
        return result;
    if (t->call.futex.woken || t->call.futex.waiting)
        return queue_and_sleep(t, a[0], 0, FUTEX_BITSET_MATCH_ANY, deadline);
    uint32_t old = word_load(word), owner = old & FUTEX_TID_MASK;
    if (owner == (uint32_t)t->tid)
        return -EDEADLK;
    if (owner == 0) {
        uint32_t waiters = first_waiter(p, a[0], FUTEX_BITSET_MATCH_ANY) ? FUTEX_WAITERS : 0;
        __atomic_store_n(word, (uint32_t)t->tid | waiters | (old & FUTEX_OWNER_DIED), __ATOMIC_SEQ_CST);
        return 0;
    }
    if (try)
        return -EAGAIN;
    __atomic_store_n(word, old | FUTEX_WAITERS, __ATOMIC_SEQ_CST);
    return queue_and_sleep(t, a[0], old | FUTEX_WAITERS, FUTEX_BITSET_MATCH_ANY, deadline);
}

static int64_t futex_unlock_pi(struct thread *t, uint64_t addr)
{
    uint32_t *word = futex_word(t->process, addr, PROT_READ | PROT_WRITE);
    if (!word)
        return -EFAULT;
    if ((word_load(word) & FUTEX_TID_MASK) != (uint32_t)t->tid)
        return -EPERM;
    pi_hand_over(t->process, addr, word, 0);
    return 0;
}

int64_t sys_futex(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    bool wall = a[1] & FUTEX_CLOCK_REALTIME;
    if (a[0] % sizeof(uint32_t) != 0)
        return -EINVAL;
    switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: return futex_wait(t, a, FUTEX_BITSET_MATCH_ANY, false);
    case FUTEX_WAIT_BITSET: return futex_wait(t, a, (uint32_t)a[5], true);
    case FUTEX_WAKE: return futex_wake(p, a[0], (uint32_t)a[2], FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        if ((uint32_t)a[5] == 0)
            return -EINVAL;
        return futex_wake(p, a[0], (uint32_t)a[2], (uint32_t)a[5]);
    case FUTEX_REQUEUE: return futex_requeue(p, a, false);
    case FUTEX_CMP_REQUEUE: return futex_requeue(p, a, true);
    case FUTEX_WAKE_OP: return futex_wake_op(p, a);
    case FUTEX_LOCK_PI: return futex_lock_pi(t, a, false, true);
    case FUTEX_LOCK_PI2: return futex_lock_pi(t, a, false, wall);
    case FUTEX_TRYLOCK_PI: return futex_lock_pi(t, a, true, true);
    case FUTEX_UNLOCK_PI: return futex_unlock_pi(t, a[0]);
    default: return -ENOSYS;
    }
}

/* ---- robust lists */

/* Releases one robust futex of an exiting thread. `pending` marks the list's pending entry: the thread may have died
 * while locking or unlocking it. */
static void release_word(struct thread *t, uint64_t addr, bool pi, bool pending)
{
    struct process *p = t->process;
    uint32_t *word = futex_word(p, addr, PROT_READ | PROT_WRITE);
    if (!word)
        return;
    uint32_t old = word_load(word), owner = old & FUTEX_TID_MASK;
    if (pending && !pi && owner == 0) {
        futex_wake(p, addr, 1, FUTEX_BITSET_MATCH_ANY); /* died after the release and before the wake */
        return;
    }
    if (owner != (uint32_t)t->tid)
        return;
    if (pi) {
        pi_hand_over(p, addr, word, FUTEX_OWNER_DIED);
        return;
    }
    __atomic_store_n(word, (old & FUTEX_WAITERS) | FUTEX_OWNER_DIED, __ATOMIC_SEQ_CST);
    if (old & FUTEX_WAITERS)
        futex_wake(p, addr, 1, FUTEX_BITSET_MATCH_ANY);
}

void futex_release_robust(struct thread *t)
{
    const struct guest_memory *m = t->process->memory;
    struct {
        uint64_t next;
        int64_t offset; /* offset of the futex from its list entry */
        uint64_t pending;
    } head;
    uint64_t at = t->robust_list;
    t->robust_list = 0;
    if (at == 0 || guest_copy_in(m, &head, at, sizeof head) < 0)
        return;
    /* Bit 0 of a link marks a priority-inheritance futex. The limit ends a walk along a corrupted list that never
     * returns to its head. */
    uint64_t entry = head.next;
    for (int i = 0; i < ROBUST_LIST_LIMIT && (entry & ~UINT64_C(1)) != at; i++) {
        uint64_t next, addr = entry & ~UINT64_C(1);
        if (guest_copy_in(m, &next, addr, sizeof next) < 0)
            break;
        if (entry != head.pending)
            release_word(t, addr + (uint64_t)head.offset, entry & 1, false);
        entry = next;
    }
    if (head.pending != 0)
        release_word(t, (head.pending & ~UINT64_C(1)) + (uint64_t)head.offset, head.pending & 1, true);
}

int64_t sys_set_robust_list(struct thread *t, const uint64_t a[6])
{
    if (a[1] != 24)
        return -EINVAL;
    t->robust_list = a[0];
    return 0;
}

int64_t sys_get_robust_list(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    const struct thread *owner = a[0] == 0 ? t : thread_by_tid(t->process, (int)a[0]);
    const uint64_t length = 24;
    if (!owner)
        return -ESRCH;
    if (guest_copy_out(m, a[2], &length, sizeof length) < 0)
        return -EFAULT;
    return guest_copy_out(m, a[1], &owner->robust_list, sizeof owner->robust_list);
}
