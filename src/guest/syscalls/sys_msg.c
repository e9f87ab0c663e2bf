/* System V message queues: msgget, msgsnd, msgrcv, msgctl. See ipc.h. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>

#include "guest/ipc.h"
#include "guest/syscalls/syscall.h"

/* Linux's struct msqid64_ds of riscv64. */
struct guest_msqid {
    struct guest_ipc_perm perm;
    int64_t stime, rtime, ctime;
    uint64_t bytes, count, limit;
    int32_t sender, receiver;
    uint64_t unused[2];
};

static struct ipc *table(const struct thread *t)
{
    return t->process->family->ipc;
}

static struct message_queue *find_queue(struct ipc *ipc, int id)
{
    for (unsigned i = 0; id > 0 && i < IPC_QUEUES_MAX; i++)
        if (ipc->queues[i].object.id == id)
            return &ipc->queues[i];
    return NULL;
}

/* The queue of a call: NULL with -EINVAL in `*error`, or -EIDRM if the queue was removed while the call waited. */
static struct message_queue *queue_of_call(const struct thread *t, int id, int64_t *error)
{
    struct message_queue *q = find_queue(table(t), id);
    *error = q ? 0 : t->call.ipc_waiting ? -EIDRM : -EINVAL;
    return q;
}

/* ---- msgget */

static int64_t new_queue(struct thread *t, int key, int flags)
{
    struct ipc *ipc = table(t);
    for (unsigned i = 0; i < IPC_QUEUES_MAX; i++) {
        struct message_queue *q = &ipc->queues[i];
        if (q->object.id != 0)
            continue;
        memset(q, 0, offsetof(struct message_queue, data));
        q->object = ipc_object_new(t, key, flags);
        q->limit = IPC_QUEUE_BYTES;
        return q->object.id;
    }
    return -ENOSPC;
}

static int64_t get_queue(struct thread *t, int key, int flags)
{
    const struct ipc *ipc = table(t);
    for (unsigned i = 0; key != IPC_PRIVATE && i < IPC_QUEUES_MAX; i++)
        if (ipc->queues[i].object.id != 0 && ipc->queues[i].object.key == key)
            return (flags & IPC_CREAT) && (flags & IPC_EXCL) ? -EEXIST : ipc->queues[i].object.id;
    return key == IPC_PRIVATE || flags & IPC_CREAT ? new_queue(t, key, flags) : -ENOENT;
}

int64_t sys_msgget(struct thread *t, const uint64_t a[6])
{
    ipc_lock(table(t));
    int64_t result = get_queue(t, (int)a[0], (int)a[1]);
    ipc_unlock(table(t));
    return result;
}

/* ---- sending */

static bool has_room(const struct message_queue *q, uint64_t bytes)
{
    return q->bytes + bytes <= q->limit && q->count + 1 <= q->limit;
}

static void append(struct thread *t, struct message_queue *q, int64_t type, const void *text, uint64_t bytes)
{
    struct message_header header = {type, bytes};
    memcpy(q->data + q->used, &header, sizeof header);
    if (bytes > 0)
        memcpy(q->data + q->used + sizeof header, text, bytes);
    q->used += sizeof header + bytes;
    q->bytes += bytes;
    q->count++;
    q->sender = t->process->pid;
    q->sent_s = ipc_seconds(t);
    table(t)->changes++;
}

int64_t sys_msgsnd(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    int64_t type, result;
    if (guest_copy_in(m, &type, a[1], sizeof type) < 0)
        return -EFAULT;
    if (a[2] > IPC_MESSAGE_BYTES || (int)a[0] < 0 || type < 1)
        return -EINVAL;
    const void *text = a[2] > 0 ? guest_ptr(m, a[1] + sizeof type, a[2], PROT_READ) : "";
    if (!text)
        return -EFAULT;
    ipc_lock(table(t));
    struct message_queue *q = queue_of_call(t, (int)a[0], &result);
    if (q && has_room(q, a[2]))
        append(t, q, type, text, a[2]);
    else if (q && !(a[3] & IPC_NOWAIT))
        return ipc_wait(t, NEVER);
    else if (q)
        result = -EAGAIN;
    ipc_unlock(table(t));
    return result;
}

/* ---- receiving */

static struct message_header header_at(const struct message_queue *q, uint64_t at)
{
    struct message_header header;
    memcpy(&header, q->data + at, sizeof header);
    return header;
}

/* Finds the message that msgrcv with this type and these flags takes: true with its place in `*at`. */
static bool choose(const struct message_queue *q, int64_t type, int flags, uint64_t *at)
{
    bool found = false;
    int64_t most = type == INT64_MIN ? INT64_MAX : -type, lowest = INT64_MAX; /* type < 0: the lowest up to `most` */
    for (uint64_t i = 0; i < q->used; i += sizeof(struct message_header) + header_at(q, i).bytes) {
        int64_t its = header_at(q, i).type;
        bool fits = type == 0            ? true
                    : type < 0           ? its <= most && (!found || its < lowest)
                    : flags & MSG_EXCEPT ? its != type
                                         : its == type;
        if (!fits)
            continue;
        found = true;
        lowest = its;
        *at = i;
        if (type >= 0)
            break;
    }
    return found;
}

static void take(struct thread *t, struct message_queue *q, uint64_t at)
{
    uint64_t bytes = header_at(q, at).bytes, end = at + sizeof(struct message_header) + bytes;
    memmove(q->data + at, q->data + end, q->used - end);
    q->used -= end - at;
    q->bytes -= bytes;
    q->count--;
    q->receiver = t->process->pid;
    q->received_s = ipc_seconds(t);
    table(t)->changes++;
}

/* Copies the message at `at` to the guest and removes it. Returns the bytes of its text. */
static int64_t receive(struct thread *t, struct message_queue *q, uint64_t at, uint64_t addr, uint64_t room, int flags)
{
    struct guest_memory *m = t->process->memory;
    struct message_header header = header_at(q, at);
    if (header.bytes > room && !(flags & MSG_NOERROR))
        return -E2BIG;
    uint64_t bytes = header.bytes < room ? header.bytes : room;
    if (guest_copy_out(m, addr, &header.type, sizeof header.type) < 0 ||
        guest_copy_out(m, addr + sizeof header.type, q->data + at + sizeof header, bytes) < 0)
        return -EFAULT;
    take(t, q, at);
    return (int64_t)bytes;
}

int64_t sys_msgrcv(struct thread *t, const uint64_t a[6])
{
    int64_t result;
    int flags = (int)a[4];
    uint64_t at;
    if ((int64_t)a[2] < 0 || (int)a[0] < 0)
        return -EINVAL;
    if (flags & MSG_COPY)
        return -ENOSYS; /* as in kernels without checkpoint/restore */
    ipc_lock(table(t));
    struct message_queue *q = queue_of_call(t, (int)a[0], &result);
    if (q && choose(q, (int64_t)a[3], flags, &at))
        result = receive(t, q, at, a[1], a[2], flags);
    else if (q && !(flags & IPC_NOWAIT))
        return ipc_wait(t, NEVER);
    else if (q)
        result = -ENOMSG;
    ipc_unlock(table(t));
    return result;
}

/* ---- msgctl */

static int64_t put_status(struct thread *t, const struct message_queue *q, uint64_t addr)
{
    struct guest_msqid status = {.perm = ipc_perm_out(&q->object),
                                 .stime = q->sent_s,
                                 .rtime = q->received_s,
                                 .ctime = q->object.changed_s,
                                 .bytes = q->bytes,
                                 .count = q->count,
                                 .limit = q->limit,
                                 .sender = q->sender,
                                 .receiver = q->receiver};
    return guest_copy_out(t->process->memory, addr, &status, sizeof status);
}

static int64_t control(struct thread *t, struct message_queue *q, int command, uint64_t addr)
{
    struct guest_msqid status;
    switch (command) {
    case IPC_RMID:
        q->object.id = 0;
        table(t)->changes++;
        return 0;
    case IPC_STAT: return put_status(t, q, addr);
    case IPC_SET:
        if (guest_copy_in(t->process->memory, &status, addr, sizeof status) < 0)
            return -EFAULT;
        if (status.limit > IPC_QUEUE_BYTES)
            return -EPERM;
        ipc_perm_in(t, &q->object, &status.perm);
        q->limit = status.limit;
        table(t)->changes++;
        return 0;
    default: return -EINVAL;
    }
}

int64_t sys_msgctl(struct thread *t, const uint64_t a[6])
{
    ipc_lock(table(t));
    struct message_queue *q = find_queue(table(t), (int)a[0]);
    int64_t result = q ? control(t, q, (int)a[1], a[2]) : -EINVAL;
    ipc_unlock(table(t));
    return result;
}
