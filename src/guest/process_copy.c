#include "guest/process_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/file_view.h"
#include "guest/files.h"
#include "guest/process_copy_priv.h"

const char *process_spoiled(const struct process *p)
{
    return p->copy && p->copy->spoiled[0] ? p->copy->spoiled : NULL;
}

bool process_copy_acted(const struct process *p)
{
    return p->copy && p->copy->acted;
}

/* ---- other processes */

/* Moves the process to a new family in which it is the only member, with the same guest pid. */
static int leave_family(struct process *p, struct error *err)
{
    struct family *old = p->family;
    for (const struct member *m = NULL; (m = family_next(old, m)) != NULL;)
        if (m != p->member)
            return error_set(err, -ENOTSUP, "the program has other processes at this point, which cannot be copied");
    struct family *own = family_new(err);
    if (own == NULL)
        return -ENOMEM;
    own->next_id = p->pid;
    own->outside_host_pgrp = old->outside_host_pgrp;
    own->outside_host_session = old->outside_host_session;
    own->leads = (bool)old->leads;
    own->overlay_made = (bool)old->overlay_made;
    memcpy(own->overlay_path, old->overlay_path, sizeof own->overlay_path);
    p->member = family_add(own, p->ppid);
    member_set_host(p->member, getpid());
    own->next_id = (int)old->next_id;
    own->clock_ns = process_time_ns(p);
    ipc_copy(own->ipc, old->ipc);
    p->family = own;
    family_free(old);
    baton_join(own, p->member);
    int64_t turn_insns = p->turn_insns;
    baton_take(p);
    p->turn_insns =
        turn_insns; /* the copy goes on with the turn of the run: its children run when those of the run do */
    return 0;
}

int fork_silently(void)
{
    fflush(NULL);
    int parent = getpid(), pid = (int)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

int process_fork_copy(struct process *p, int *code, struct error *err)
{
    int ends[2];
    char nothing;
    if (files_private_pipe(ends) != 0)
        return error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    int pid = fork_silently();
    if (pid == 0) {
        close(ends[0]);
        *code = process_become_copy(p, err);
        close(ends[1]);
        return 0;
    }
    if (pid < 0)
        error_set(err, pid = -errno, "cannot start a process: %s", strerror(errno));
    close(ends[1]);
    while (pid > 0 && read(ends[0], &nothing, 1) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    return pid;
}

int process_become_copy(struct process *p, struct error *err)
{
    if (p->config.host_time)
        return error_set(err, -ENOTSUP, "a run with --host-time cannot be copied: the host's clock does not stop");
    struct process_copy *s = p->copy ? p->copy : calloc(1, sizeof *s);
    if (s == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    p->copy = s;
    host_signal_forget();
    guest_unmark_code(p->memory, 0, GUEST_SPACE); /* new mappings of shared memory are not protected */
    int code = leave_family(p, err);
    if (code == 0)
        code = views_unshare(p, err);
    if (code == 0 && !s->filtered)
        code = copy_open_devices(s, err);
    if (code == 0)
        code = copy_unshare_files(p, err);
    if (code == 0)
        code = copy_unshare_memory(p, err);
    if (code == 0 && !s->filtered)
        s->filtered = copy_filter_install();
    s->acted = false;
    return code;
}
