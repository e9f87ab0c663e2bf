#include "guest/family.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/baton.h"

struct family *family_new(struct error *err)
{
    struct family *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f == MAP_FAILED) {
        error_set(err, -errno, "cannot allocate the table of processes: %s", strerror(errno));
        return NULL;
    }
    f->ipc = ipc_new(err);
    if (f->ipc == NULL) {
        munmap(f, sizeof *f);
        return NULL;
    }
    f->next_id = FAMILY_FIRST;
    f->holder = -1;
    f->outside_host_pgrp = getpgrp();
    f->outside_host_session = getsid(0);
    return f;
}

void family_free(struct family *f)
{
    if (!f)
        return;
    ipc_free(f->ipc);
    munmap(f, sizeof *f);
}

int family_new_id(struct family *f)
{
    return atomic_fetch_add(&f->next_id, 1);
}

/* Returns an upper bound of the number of used entries, counted from the entry of FAMILY_FIRST. */
static int used_places(const struct family *f)
{
    int used = f->next_id - FAMILY_FIRST;
    return used < FAMILY_SIZE ? used : FAMILY_SIZE;
}

static struct member *place(struct family *f, int i)
{
    return &f->members[(unsigned)(FAMILY_FIRST + i) % FAMILY_SIZE];
}

/* Uses the first entry, from index `id` modulo FAMILY_SIZE on, that is free or that belongs to a reaped process. Ids
 * are consecutive, so the process that was reaped longest ago is overwritten first. */
static struct member *add_with_id(struct family *f, int id, int parent_pid)
{
    for (int i = 0; i < FAMILY_SIZE; i++) {
        struct member *m = &f->members[(unsigned)(id + i) % FAMILY_SIZE];
        int state = m->state;
        if ((state == MEMBER_FREE || state == MEMBER_REAPED) &&
            atomic_compare_exchange_strong(&m->state, &state, MEMBER_ALIVE)) {
            m->host_pid = 0;
            m->host_start = 0;
            m->guest_pid = id;
            m->parent_pid = parent_pid;
            m->subreaper = false;
            m->insns = 0;
            m->turn = 0;
            m->next = m->previous = -1;
            m->seen = true;
            return m;
        }
    }
    return NULL;
}

static void reap_lost_orphans(struct family *f);

struct member *family_add(struct family *f, int parent_pid)
{
    int id = family_new_id(f);
    struct member *m = add_with_id(f, id, parent_pid);
    if (m == NULL) {
        reap_lost_orphans(f);
        m = add_with_id(f, id, parent_pid);
    }
    return m;
}

void family_drop(struct family *f, struct member *m)
{
    baton_leave(f, m);
    m->guest_pid = 0;
    m->state = MEMBER_REAPED; /* not MEMBER_FREE, at which family_by_guest would stop: later ids may lie behind it */
}

void family_reap(struct family *f, struct member *m)
{
    baton_leave(f, m);
    ipc_process_ended(f->ipc, m->guest_pid); /* with --host-time, of one that was killed */
    m->state = MEMBER_REAPED;
}

/* The guest pid of the nearest living subreaper above this process, or FAMILY_INIT. */
static int reaper_above(struct family *f, int pid)
{
    for (int above = FAMILY_SIZE; above > 0; above--) {
        const struct member *m = family_by_guest(f, pid);
        if (!m || m->parent_pid == FAMILY_INIT)
            break;
        pid = m->parent_pid;
        const struct member *parent = family_by_guest(f, pid);
        if (parent && parent->subreaper && parent->state != MEMBER_ENDED && parent->state != MEMBER_REAPED)
            return pid;
    }
    return FAMILY_INIT;
}

void family_orphan(struct family *f, int parent_pid)
{
    int reaper = reaper_above(f, parent_pid);
    for (int i = 0; i < used_places(f); i++) {
        struct member *m = place(f, i);
        if (!member_exists(m) || m->parent_pid != parent_pid)
            continue;
        m->parent_pid = reaper;
        if (m->state != MEMBER_ENDED)
            continue;
        if (reaper == FAMILY_INIT)
            m->state = MEMBER_REAPED;
        m->seen = false; /* the new parent hears of its end */
        f->changes++;
    }
}

/* ---- host processes */

/* Reads when a host process began, and its state; 0 if there is no such process. */
static uint64_t host_start(int pid, char *state)
{
    char name[64], stat[1024];
    unsigned long long start = 0;
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return 0;
    stat[length] = '\0';
    const char *rest = strrchr(stat, ')'); /* behind the name, which may contain anything */
    if (rest == NULL ||
        sscanf(rest, ") %c%*d%*d%*d%*d%*d%*u%*u%*u%*u%*u%*u%*u%*d%*d%*d%*d%*d%*d%llu", state, &start) != 2)
        return 0;
    return start;
}

void member_set_host(struct member *m, int host_pid)
{
    char state;
    m->host_start = host_start(host_pid, &state);
    m->host_pid = host_pid;
}

bool member_runs(const struct member *m)
{
    char state = 'X';
    uint64_t start = host_start(m->host_pid, &state);
    return start != 0 && start == m->host_start && strchr("ZXx", state) == NULL;
}

/* A pid does not change hands while a process has it, so if the process of the pidfd exists after its start was read,
 * both are of one process. */
int member_open(const struct member *m)
{
    char state;
    int fd = m->host_pid > 0 ? (int)syscall(SYS_pidfd_open, (int)m->host_pid, 0) : -1;
    if (fd < 0)
        return -ESRCH;
    uint64_t start = host_start(m->host_pid, &state);
    bool exists = syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 || errno == EPERM;
    if (start != 0 && start == m->host_start && exists)
        return fd;
    close(fd);
    return -ESRCH;
}

int member_signal(struct family *f, struct member *m, int sig, const siginfo_t *info, int *pidfd)
{
    int fd = member_open(m);
    if (fd == -ESRCH && member_exists(m))
        family_reap(f, m);
    if (fd < 0)
        return fd;
    int result = syscall(SYS_pidfd_send_signal, fd, sig, info, 0) == 0 ? 0 : -errno;
    if (pidfd && result == 0)
        *pidfd = fd;
    else
        close(fd);
    return result;
}

/* Frees the entries of orphans that the host's init has waited for. */
static void reap_lost_orphans(struct family *f)
{
    for (struct member *m = NULL; (m = family_next(f, m)) != NULL;) {
        int fd = m->parent_pid == FAMILY_INIT ? member_open(m) : -1;
        if (fd >= 0)
            close(fd);
        else if (fd == -ESRCH)
            family_reap(f, m);
    }
}

/* ---- finding members */

struct member *family_by_guest(struct family *f, int guest_pid)
{
    for (int i = 0; i < FAMILY_SIZE; i++) {
        struct member *m = &f->members[(unsigned)(guest_pid + i) % FAMILY_SIZE];
        if (m->state == MEMBER_FREE)
            return NULL;
        if (m->guest_pid == guest_pid)
            return m;
    }
    return NULL;
}

/* Prefers members that exist: the host may have reused the pid of a reaped process. */
struct member *family_by_host(struct family *f, int host_pid)
{
    struct member *reaped = NULL;
    for (int i = 0; i < used_places(f); i++) {
        struct member *m = place(f, i);
        if (m->host_pid != host_pid)
            continue;
        if (member_exists(m))
            return m;
        if (m->state == MEMBER_REAPED)
            reaped = m;
    }
    return reaped;
}

/* Does not look behind the entries that were ever used, whose pages the host would have to allocate. */
struct member *family_next(struct family *f, const struct member *after)
{
    int end = f->next_id < FAMILY_SIZE ? f->next_id : FAMILY_SIZE;
    for (int i = after ? (int)(after - f->members) + 1 : 0; i < end; i++) {
        struct member *m = &f->members[i];
        if (member_exists(m) && m->host_pid > 0)
            return m;
    }
    return NULL;
}

int family_to_host(struct family *f, int guest_pid)
{
    if (guest_pid == 0)
        return 0;
    if (guest_pid == FAMILY_OUTSIDE)
        return f->outside_host_pgrp;
    const struct member *m = family_by_guest(f, guest_pid);
    return m && m->host_pid > 0 ? m->host_pid : -ESRCH;
}

int family_to_guest(struct family *f, int host_pid)
{
    if (host_pid == 0)
        return 0;
    const struct member *m = family_by_host(f, host_pid);
    return m ? m->guest_pid : FAMILY_OUTSIDE;
}

int family_group_to_guest(struct family *f, int host_id)
{
    bool outside = host_id == f->outside_host_pgrp || host_id == f->outside_host_session;
    return host_id == 0 || (outside && !f->leads) ? FAMILY_OUTSIDE : family_to_guest(f, host_id);
}
