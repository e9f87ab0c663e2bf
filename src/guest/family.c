#include "guest/family.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/baton.h"

struct family *family_new(struct error *err)
{
    struct family *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f == MAP_FAILED) {
        error_set(err, -errno, "cannot allocate the table of processes: %s", strerror(errno));
        return NULL;
    }
    f->next_id = FAMILY_FIRST;
    f->holder = -1;
    f->outside_host_pgrp = getpgrp();
    return f;
}

void family_free(struct family *f)
{
    if (f)
        munmap(f, sizeof *f);
}

int family_new_id(struct family *f)
{
    return atomic_fetch_add(&f->next_id, 1);
}

/* How many places of the table may be in use, from that of FAMILY_FIRST on. */
static int used_places(const struct family *f)
{
    int used = f->next_id - FAMILY_FIRST;
    return used < FAMILY_SIZE ? used : FAMILY_SIZE;
}

static struct member *place(struct family *f, int i)
{
    return &f->members[(unsigned)(FAMILY_FIRST + i) % FAMILY_SIZE];
}

/* Takes a free place, or else that of a process that was reaped. Places are tried from the id on, so that with
 * consecutive ids the longest-gone entry is the first to be overwritten. */
struct member *family_add(struct family *f, int parent_pid)
{
    int id = family_new_id(f);
    for (int i = 0; i < FAMILY_SIZE; i++) {
        struct member *m = &f->members[(unsigned)(id + i) % FAMILY_SIZE];
        int state = m->state;
        if ((state == MEMBER_FREE || state == MEMBER_REAPED) &&
            atomic_compare_exchange_strong(&m->state, &state, MEMBER_ALIVE)) {
            m->host_pid = 0;
            m->guest_pid = id;
            m->parent_pid = parent_pid;
            m->insns = 0;
            m->turn = 0;
            m->next = m->previous = -1;
            m->seen = true;
            return m;
        }
    }
    return NULL;
}

void family_drop(struct family *f, struct member *m)
{
    baton_leave(f, m);
    m->guest_pid = 0;
    m->state = MEMBER_REAPED; /* not free: others may have been placed behind it */
}

void family_reap(struct family *f, struct member *m)
{
    baton_leave(f, m);
    m->state = MEMBER_REAPED;
}

void family_orphan(struct family *f, int parent_pid)
{
    for (int i = 0; i < used_places(f); i++) {
        struct member *m = place(f, i);
        if (!member_exists(m) || m->parent_pid != parent_pid)
            continue;
        m->parent_pid = FAMILY_INIT;
        if (m->state == MEMBER_ENDED)
            m->state = MEMBER_REAPED;
    }
}

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

/* Those that exist come first: the host may have given the number of a process that was reaped to a new one. */
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

struct member *family_next(struct family *f, const struct member *after)
{
    for (int i = after ? (int)(after - f->members) + 1 : 0; i < FAMILY_SIZE; i++) {
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
    return host_id == 0 ? FAMILY_OUTSIDE : family_to_guest(f, host_id);
}
