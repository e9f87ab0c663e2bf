/* System V semaphores: semget, semop, semtimedop, semctl. See ipc.h. */
#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "guest/ipc.h"
#include "guest/syscalls/syscall.h"
#include "guest/time_convert.h"

enum { VALUE_MAX = 32767, OPERATIONS_MAX = 500 }; /* Linux's SEMVMX and SEMOPM */

/* Linux's struct semid64_ds of riscv64. */
struct guest_semid {
    struct guest_ipc_perm perm;
    int64_t otime, ctime;
    uint64_t count, unused[2];
};

static struct ipc *table(const struct thread *t)
{
    return t->process->family->ipc;
}

static struct semaphore_set *find_set(struct ipc *ipc, int id)
{
    for (unsigned i = 0; id > 0 && i < IPC_SETS_MAX; i++)
        if (ipc->sets[i].object.id == id)
            return &ipc->sets[i];
    return NULL;
}

/* ---- making and removing sets */

static int64_t new_set(struct thread *t, int key, int count, int flags)
{
    struct ipc *ipc = table(t);
    struct semaphore_set *set = NULL;
    for (unsigned i = 0; i < IPC_SETS_MAX && !set; i++)
        if (ipc->sets[i].object.id == 0)
            set = &ipc->sets[i];
    if (count == 0)
        return -EINVAL;
    if (!set || (unsigned)count > IPC_SEMAPHORES_MAX - ipc->semaphore_count)
        return -ENOSPC;
    *set = (struct semaphore_set){
        .object = ipc_object_new(t, key, flags), .first = ipc->semaphore_count, .count = (unsigned)count};
    memset(&ipc->semaphores[set->first], 0, set->count * sizeof *ipc->semaphores);
    ipc->semaphore_count += set->count;
    return set->object.id;
}

static int64_t get_set(struct thread *t, int key, int count, int flags)
{
    struct ipc *ipc = table(t);
    if (count < 0 || count > IPC_SEMAPHORES_MAX)
        return -EINVAL;
    for (unsigned i = 0; key != IPC_PRIVATE && i < IPC_SETS_MAX; i++) {
        const struct semaphore_set *set = &ipc->sets[i];
        if (set->object.id == 0 || set->object.key != key)
            continue;
        if ((flags & IPC_CREAT) && (flags & IPC_EXCL))
            return -EEXIST;
        return (unsigned)count > set->count ? -EINVAL : set->object.id;
    }
    return key == IPC_PRIVATE || flags & IPC_CREAT ? new_set(t, key, count, flags) : -ENOENT;
}

int64_t sys_semget(struct thread *t, const uint64_t a[6])
{
    ipc_lock(table(t));
    int64_t result = get_set(t, (int)a[0], (int)a[1], (int)a[2]);
    ipc_unlock(table(t));
    return result;
}

/* Forgets the adjustments of a semaphore, or of all (`number` -1) of a set. */
static void forget_undos(struct ipc *ipc, int set, int number)
{
    for (unsigned i = 0; i < IPC_UNDOS_MAX; i++)
        if (ipc->undos[i].pid != 0 && ipc->undos[i].set == set &&
            (number < 0 || ipc->undos[i].number == (unsigned)number))
            ipc->undos[i].pid = 0;
}

/* Moves the semaphores of later sets down: the used ones stay in one piece. */
static int64_t remove_set(struct ipc *ipc, struct semaphore_set *set)
{
    unsigned end = set->first + set->count;
    forget_undos(ipc, set->object.id, -1);
    memmove(&ipc->semaphores[set->first], &ipc->semaphores[end],
            (ipc->semaphore_count - end) * sizeof *ipc->semaphores);
    ipc->semaphore_count -= set->count;
    for (unsigned i = 0; i < IPC_SETS_MAX; i++)
        if (ipc->sets[i].object.id != 0 && ipc->sets[i].first >= end)
            ipc->sets[i].first -= set->count;
    *set = (struct semaphore_set){0};
    ipc->changes++;
    return 0;
}

/* ---- adjustments at the end of a process */

/* Returns the record of a process's adjustment of a semaphore, made if needed; NULL if there is no room. */
static struct semaphore_undo *find_undo(struct ipc *ipc, int pid, int set, unsigned number)
{
    struct semaphore_undo *unused = NULL;
    for (unsigned i = 0; i < IPC_UNDOS_MAX; i++) {
        struct semaphore_undo *u = &ipc->undos[i];
        if (u->pid == pid && u->set == set && u->number == number)
            return u;
        if (u->pid == 0 && !unused)
            unused = u;
    }
    if (unused)
        *unused = (struct semaphore_undo){.pid = pid, .set = set, .number = number};
    return unused;
}

void ipc_process_ended(struct ipc *ipc, int pid)
{
    if (!ipc_in_use(ipc))
        return;
    ipc_lock(ipc);
    for (unsigned i = 0; i < IPC_UNDOS_MAX; i++) {
        struct semaphore_undo *u = &ipc->undos[i];
        const struct semaphore_set *set = u->pid == pid ? find_set(ipc, u->set) : NULL;
        if (!set)
            continue;
        struct semaphore *s = &ipc->semaphores[set->first + u->number];
        int value = s->value + u->adjust;
        s->value = value < 0 ? 0 : value > VALUE_MAX ? VALUE_MAX : value;
        s->pid = pid;
        u->pid = 0;
        ipc->changes++;
    }
    ipc_unlock(ipc);
    ipc_forget_waiters(ipc, pid, 0);
}

/* ---- waiting threads */

void ipc_forget_waiters(struct ipc *ipc, int pid, int tid)
{
    if (ipc->last_id == 0)
        return;
    ipc_lock(ipc);
    for (unsigned i = 0; i < IPC_WAITERS_MAX; i++)
        if (ipc->waiters[i].pid == pid && (tid == 0 || ipc->waiters[i].tid == tid))
            ipc->waiters[i].pid = 0;
    ipc_unlock(ipc);
}

/* Without room the thread waits uncounted. */
static void note_waiter(struct thread *t, int set, const struct sembuf *op)
{
    struct ipc *ipc = table(t);
    struct semaphore_waiter *place = NULL;
    for (unsigned i = 0; i < IPC_WAITERS_MAX; i++) {
        struct semaphore_waiter *w = &ipc->waiters[i];
        bool own = w->pid == t->process->pid && w->tid == t->tid;
        if (own || (w->pid == 0 && !place))
            place = w;
        if (own)
            break;
    }
    if (place)
        *place = (struct semaphore_waiter){t->process->pid, t->tid, set, op->sem_num, op->sem_op == 0};
}

static int64_t count_waiters(const struct thread *t, int set, unsigned number, bool for_zero)
{
    const struct ipc *ipc = table(t);
    int64_t count = 0;
    for (unsigned i = 0; i < IPC_WAITERS_MAX; i++) {
        const struct semaphore_waiter *w = &ipc->waiters[i];
        if (w->pid == 0 || w->set != set || w->number != number || w->for_zero != for_zero)
            continue;
        const struct member *m = family_by_guest(t->process->family, w->pid);
        count += m && (m->state == MEMBER_ALIVE || m->state == MEMBER_STOPPED);
    }
    return count;
}

/* ---- operations */

/* Changes the value and the adjustment of one semaphore, or checks that it is 0. Returns 0, -EAGAIN if the operation
 * has to wait, -ERANGE or -ENOSPC. */
static int apply(struct thread *t, const struct semaphore_set *set, const struct sembuf *op)
{
    struct ipc *ipc = table(t);
    struct semaphore *s = &ipc->semaphores[set->first + op->sem_num];
    int value = s->value + op->sem_op;
    if (op->sem_op == 0)
        return s->value == 0 ? 0 : -EAGAIN;
    if (value < 0)
        return -EAGAIN;
    if (value > VALUE_MAX)
        return -ERANGE;
    if (op->sem_flg & SEM_UNDO) {
        struct semaphore_undo *u = find_undo(ipc, t->process->pid, set->object.id, op->sem_num);
        if (!u)
            return -ENOSPC;
        int adjust = u->adjust - op->sem_op;
        if (adjust < -VALUE_MAX - 1 || adjust > VALUE_MAX)
            return -ERANGE;
        u->adjust = adjust;
    }
    s->value = value;
    return 0;
}

static void take_back(struct thread *t, const struct semaphore_set *set, const struct sembuf *ops, unsigned count)
{
    struct ipc *ipc = table(t);
    while (count-- > 0) {
        const struct sembuf *op = &ops[count];
        ipc->semaphores[set->first + op->sem_num].value -= op->sem_op;
        if (op->sem_op != 0 && (op->sem_flg & SEM_UNDO))
            find_undo(ipc, t->process->pid, set->object.id, op->sem_num)->adjust += op->sem_op;
    }
}

/* Makes all operations or none. Returns 0 or the error of the first that fails, whose index is in `*failed`. */
static int apply_all(struct thread *t, struct semaphore_set *set, const struct sembuf *ops, unsigned count,
                     unsigned *failed)
{
    struct ipc *ipc = table(t);
    for (unsigned i = 0; i < count; i++) {
        int code = apply(t, set, &ops[i]);
        if (code < 0) {
            take_back(t, set, ops, i);
            *failed = i;
            return code;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        ipc->semaphores[set->first + ops[i].sem_num].pid = t->process->pid;
        ipc->changes += ops[i].sem_op != 0;
    }
    set->operated_s = ipc_seconds(t);
    return 0;
}

static int64_t operate(struct thread *t, int id, const struct sembuf *ops, unsigned count, uint64_t deadline_ns)
{
    struct ipc *ipc = table(t);
    unsigned failed = 0;
    bool waited = t->call.ipc_waiting;
    ipc_lock(ipc);
    struct semaphore_set *set = find_set(ipc, id);
    int64_t result = set ? 0 : waited ? -EIDRM : -EINVAL;
    for (unsigned i = 0; i < count && result == 0; i++)
        if (ops[i].sem_num >= set->count)
            result = -EFBIG;
    if (result == 0)
        result = apply_all(t, set, ops, count, &failed);
    if (result == -EAGAIN && !(ops[failed].sem_flg & IPC_NOWAIT) && !call_timed_out(t)) {
        note_waiter(t, id, &ops[failed]);
        result = ipc_wait(t, deadline_ns);
    } else {
        ipc_unlock(ipc);
    }
    if (result != SYSCALL_RETRY && t->call.ipc_waiting)
        ipc_forget_waiters(ipc, t->process->pid, t->tid);
    return result;
}

int64_t sys_semtimedop(struct thread *t, const uint64_t a[6])
{
    struct sembuf ops[OPERATIONS_MAX];
    struct timespec timeout;
    uint64_t deadline_ns = NEVER;
    if (a[3] != 0) {
        if (guest_copy_in(t->process->memory, &timeout, a[3], sizeof timeout) < 0)
            return -EFAULT;
        if (!timespec_valid(&timeout))
            return -EINVAL;
        deadline_ns = time_add(process_time_ns(t->process), timespec_to_ns(&timeout));
    }
    uint32_t count = (uint32_t)a[2];
    if (count < 1 || (int)a[0] < 0)
        return -EINVAL;
    if (count > OPERATIONS_MAX)
        return -E2BIG;
    if (guest_copy_in(t->process->memory, ops, a[1], count * sizeof *ops) < 0)
        return -EFAULT;
    return operate(t, (int)a[0], ops, count, deadline_ns);
}

int64_t sys_semop(struct thread *t, const uint64_t a[6])
{
    return sys_semtimedop(t, (uint64_t[6]){a[0], a[1], a[2], 0});
}

/* ---- semctl */

static int64_t put_status(struct thread *t, const struct semaphore_set *set, uint64_t addr)
{
    struct guest_semid status = {.perm = ipc_perm_out(&set->object),
                                 .otime = set->operated_s,
                                 .ctime = set->object.changed_s,
                                 .count = set->count};
    return guest_copy_out(t->process->memory, addr, &status, sizeof status);
}

static void set_value(struct thread *t, struct semaphore_set *set, unsigned number, int value)
{
    struct ipc *ipc = table(t);
    ipc->semaphores[set->first + number] = (struct semaphore){t->process->pid, value};
    forget_undos(ipc, set->object.id, (int)number);
    set->object.changed_s = ipc_seconds(t);
    ipc->changes++;
}

static int64_t all_values(struct thread *t, struct semaphore_set *set, bool change, uint64_t addr)
{
    uint16_t values[IPC_SEMAPHORES_MAX];
    if (!change) {
        for (unsigned i = 0; i < set->count; i++)
            values[i] = (uint16_t)table(t)->semaphores[set->first + i].value;
        return guest_copy_out(t->process->memory, addr, values, set->count * sizeof *values);
    }
    if (guest_copy_in(t->process->memory, values, addr, set->count * sizeof *values) < 0)
        return -EFAULT;
    for (unsigned i = 0; i < set->count; i++)
        if (values[i] > VALUE_MAX)
            return -ERANGE;
    for (unsigned i = 0; i < set->count; i++)
        set_value(t, set, i, values[i]);
    return 0;
}

/* Commands that concern one semaphore of the set. */
static int64_t control_one(struct thread *t, struct semaphore_set *set, unsigned number, int command, int value)
{
    struct ipc *ipc = table(t);
    if (number >= set->count)
        return -EINVAL;
    const struct semaphore *s = &ipc->semaphores[set->first + number];
    switch (command) {
    case GETVAL: return s->value;
    case GETPID: return s->pid;
    case GETNCNT: return count_waiters(t, set->object.id, number, false);
    case GETZCNT: return count_waiters(t, set->object.id, number, true);
    case SETVAL:
        if (value < 0 || value > VALUE_MAX)
            return -ERANGE;
        set_value(t, set, number, value);
        return 0;
    default: return -EINVAL;
    }
}

static int64_t control(struct thread *t, struct semaphore_set *set, const uint64_t a[6])
{
    struct guest_semid status;
    switch ((int)a[2]) {
    case IPC_RMID: return remove_set(table(t), set);
    case IPC_STAT: return put_status(t, set, a[3]);
    case IPC_SET:
        if (guest_copy_in(t->process->memory, &status, a[3], sizeof status) < 0)
            return -EFAULT;
        ipc_perm_in(t, &set->object, &status.perm);
        return 0;
    case GETALL:
    case SETALL: return all_values(t, set, (int)a[2] == SETALL, a[3]);
    default: return control_one(t, set, (unsigned)a[1], (int)a[2], (int)a[3]);
    }
}

int64_t sys_semctl(struct thread *t, const uint64_t a[6])
{
    ipc_lock(table(t));
    struct semaphore_set *set = find_set(table(t), (int)a[0]);
    int64_t result = set ? control(t, set, a) : -EINVAL;
    ipc_unlock(table(t));
    return result;
}
