#include "guest/ipc.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/process_priv.h"

/* The mutex is robust: with --host-time a process may be killed while it has it. */
static int make_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t shared;
    int code = pthread_mutexattr_init(&shared);
    if (code != 0)
        return code;
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    code = pthread_mutex_init(mutex, &shared);
    pthread_mutexattr_destroy(&shared);
    return code;
}

struct ipc *ipc_new(struct error *err)
{
    struct ipc *ipc =
        mmap(NULL, sizeof *ipc, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int code = ipc == MAP_FAILED ? errno : make_mutex(&ipc->mutex);
    if (code == 0)
        return ipc;
    if (ipc != MAP_FAILED)
        ipc_free(ipc);
    error_set(err, -code, "cannot allocate the table of System V objects: %s", strerror(code));
    return NULL;
}

void ipc_free(struct ipc *ipc)
{
    munmap(ipc, sizeof *ipc);
}

/* Touches only what is in use: most of the table is empty memory that the host has not allocated. */
void ipc_copy(struct ipc *to, const struct ipc *from)
{
    to->changes = (uint32_t)from->changes;
    to->last_id = from->last_id;
    if (!ipc_in_use(from))
        return;
    to->semaphore_count = from->semaphore_count;
    memcpy(to->semaphores, from->semaphores, from->semaphore_count * sizeof *from->semaphores);
    memcpy(to->sets, from->sets, sizeof to->sets);
    memcpy(to->undos, from->undos, sizeof to->undos);
    memcpy(to->waiters, from->waiters, sizeof to->waiters);
    for (unsigned i = 0; i < IPC_QUEUES_MAX; i++) {
        const struct message_queue *q = &from->queues[i];
        if (q->object.id != 0)
            memcpy(&to->queues[i], q, offsetof(struct message_queue, data) + q->used);
    }
}

bool ipc_in_use(const struct ipc *ipc)
{
    bool used = false;
    for (unsigned i = 0; ipc->last_id > 0 && i < IPC_SETS_MAX; i++)
        used |= ipc->sets[i].object.id != 0;
    for (unsigned i = 0; ipc->last_id > 0 && i < IPC_QUEUES_MAX; i++)
        used |= ipc->queues[i].object.id != 0;
    return used;
}

void ipc_lock(struct ipc *ipc)
{
    if (pthread_mutex_lock(&ipc->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&ipc->mutex);
}

void ipc_unlock(struct ipc *ipc)
{
    pthread_mutex_unlock(&ipc->mutex);
}

int64_t ipc_wait(struct thread *t, uint64_t deadline_ns)
{
    struct ipc *ipc = t->process->family->ipc;
    t->call.ipc_waiting = true;
    t->call.ipc_seen = ipc->changes;
    ipc_unlock(ipc);
    return call_sleep(t, deadline_ns);
}

bool ipc_changed(const struct thread *t)
{
    return t->process->family->ipc->changes != t->call.ipc_seen;
}

int64_t ipc_seconds(const struct thread *t)
{
    return (int64_t)(process_wall_clock_ns(t->process) / 1000000000);
}

struct ipc_object ipc_object_new(struct thread *t, int key, int flags)
{
    struct ipc *ipc = t->process->family->ipc;
    return (struct ipc_object){.id = ++ipc->last_id,
                               .key = key,
                               .uid = geteuid(),
                               .gid = getegid(),
                               .creator_uid = geteuid(),
                               .creator_gid = getegid(),
                               .mode = (uint32_t)flags & 0777,
                               .changed_s = ipc_seconds(t)};
}

struct guest_ipc_perm ipc_perm_out(const struct ipc_object *o)
{
    return (struct guest_ipc_perm){
        .key = o->key, .uid = o->uid, .gid = o->gid, .cuid = o->creator_uid, .cgid = o->creator_gid, .mode = o->mode};
}

void ipc_perm_in(struct thread *t, struct ipc_object *o, const struct guest_ipc_perm *perm)
{
    o->uid = perm->uid;
    o->gid = perm->gid;
    o->mode = perm->mode & 0777;
    o->changed_s = ipc_seconds(t);
}
