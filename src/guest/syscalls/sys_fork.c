/* fork, vfork and execve. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/execve.h"
#include "guest/files_priv.h"
#include "guest/fork.h"
#include "guest/process_copy_priv.h"
#include "guest/syscalls/syscall.h"

enum { ARGUMENT_MAX = 32 * GUEST_PAGE }; /* longest string for execve, including its zero byte */

/* Turns the copied process into the child: one thread, its own pid, no pending signals, no timers, no retired
 * instructions. Guest time continues from that of the parent. */
static void become_child(struct thread *t, struct member *member, const struct clone_request *request)
{
    struct process *p = t->process;
    for (struct thread *other = p->threads; other; other = other->next) {
        if (other->vfork_fd >= 0)
            close(other->vfork_fd);
        other->vfork_fd = -1;
    }
    if (p->vfork_done_fd >= 0)
        close(p->vfork_done_fd);
    p->vfork_done_fd = -1;
    thread_free_others(p, t);
    signal_queue_clear(&p->pending);
    signal_queue_clear(&t->pending);
    timers_reset(p);
    signalfd_forked(p);
    p->ppid = p->pid;
    p->pid = t->tid = member->guest_pid;
    p->member = member;
    p->is_child = true;
    p->marked = false;
    p->offset_ns += p->retired_insns;
    p->retired_insns = p->children_insns = 0;
    random_seed(&p->random, random_u64(&p->random) + (uint64_t)p->pid);
    member_set_host(member, getpid());
    clone_apply(t, request);
}

static int64_t put_pidfd(struct process *p, int host_pid, uint64_t addr)
{
    int32_t fd = (int32_t)syscall(SYS_pidfd_open, host_pid, 0);
    if (fd < 0)
        return -errno;
    if ((fd = files_adopt(p->files, fd)) < 0)
        return fd;
    return guest_copy_out(p->memory, addr, &fd, sizeof fd);
}

static int64_t finish_parent(struct thread *t, const struct clone_request *request, const struct member *child)
{
    struct process *p = t->process;
    int32_t pid = child->guest_pid;
    if (request->flags & CLONE_PARENT_SETTID)
        (void)!guest_copy_out(p->memory, request->parent_tid, &pid, sizeof pid);
    if (request->flags & CLONE_PIDFD)
        (void)!put_pidfd(p, child->host_pid, request->pidfd);
    return pid;
}

int64_t process_fork(struct thread *t, const struct clone_request *request)
{
    struct process *p = t->process;
    int ends[2] = {-1, -1}, result;
    bool vfork_child = request->flags & CLONE_VFORK;
    if (p->copy)
        p->copy->acted = true;
    if (vfork_child && (result = vfork_prepare(ends)) < 0)
        return result;
    struct member *child = family_add(p->family, p->pid);
    if (child)
        baton_join(p->family, child);
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old); /* a signal to the child must not be recorded as the parent's */
    fflush(NULL);
    int host_pid = child ? fork() : (errno = EAGAIN, -1);
    int code = errno;
    if (host_pid == 0) {
        uint64_t sp = t->hart.x[REG_SP];
        host_signal_forget();
        become_child(t, child, request);
        if (vfork_child) {
            close(ends[0]);
            p->vfork_done_fd = ends[1];
            p->vfork_sp = sp;
        }
        sigprocmask(SIG_SETMASK, &old, NULL);
        baton_take(p);
        return 0;
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (ends[1] >= 0)
        close(ends[1]);
    if (host_pid < 0) {
        if (child)
            family_drop(p->family, child);
        if (ends[0] >= 0)
            close(ends[0]);
        return -code;
    }
    member_set_host(child, host_pid);
    int64_t pid = finish_parent(t, request, child);
    if (!vfork_child)
        return pid;
    t->vfork_fd = ends[0];
    t->vfork_pid = (int)pid;
    return vfork_wait(t);
}

/* ---- execve */

/* Reads a null-terminated array of string pointers from guest memory and appends the strings to `list`. */
static int read_strings(const struct process *p, uint64_t addr, struct string_list *list)
{
    char *buffer = malloc(ARGUMENT_MAX);
    int result = buffer ? 0 : -ENOMEM;
    uint64_t limit = exec_strings_most(p);
    for (; addr != 0 && result == 0; addr += sizeof addr) {
        uint64_t string;
        result = guest_copy_in(p->memory, &string, addr, sizeof string);
        if (result < 0 || string == 0)
            break;
        int64_t length = guest_copy_string(p->memory, buffer, ARGUMENT_MAX, string);
        if (length < 0)
            result = length == -ENAMETOOLONG ? -E2BIG : (int)length;
        else if (list->bytes + list->count * sizeof addr > limit)
            result = -E2BIG;
        else
            result = string_list_add(list, buffer);
    }
    free(buffer);
    return result;
}

/* After exec_commit has begun, the old program is gone: an error then ends the process with SIGKILL. */
static int64_t do_exec(struct thread *t, const char *path, uint64_t argv_addr, uint64_t envp_addr)
{
    struct process *p = t->process;
    struct exec_plan plan;
    struct error err = {""};
    exec_plan_init(&plan);
    int result = read_strings(p, argv_addr, &plan.argv);
    if (result == 0)
        result = read_strings(p, envp_addr, &plan.envp);
    if (result == 0) {
        result = exec_prepare(&plan, p, path, &err);
        /* The guest gets only ENOEXEC. A program for another machine deserves a message. */
        if (result == -ENOEXEC && exec_is_elf(&plan))
            files_say(p->files, "%s", err.text);
    }
    if (result == 0) {
        result = (int)SYSCALL_NO_RESULT;
        if (exec_commit(&plan, t, &err) < 0) {
            files_say(p->files, "%s", err.text);
            process_end(p, 0, SIGKILL);
        }
        vfork_release_parent(p, false);
    }
    exec_plan_free(&plan);
    return result;
}

int64_t sys_execve(struct thread *t, const uint64_t a[6])
{
    char path[PATH_MAX];
    int64_t length = guest_copy_string(t->process->memory, path, sizeof path, a[0]);
    if (length <= 0)
        return length < 0 ? length : -ENOENT;
    return do_exec(t, path, a[1], a[2]);
}

int64_t sys_execveat(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    char name[PATH_MAX], path[PATH_MAX];
    int fd = (int)a[0];
    int64_t length = guest_copy_string(p->memory, name, sizeof name, a[1]);
    if (length < 0)
        return length;
    if (a[4] & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
        return -EINVAL;
    if (length == 0 && !(a[4] & AT_EMPTY_PATH))
        return -ENOENT;
    if (name[0] == '/' || (fd == AT_FDCWD && length > 0))
        return do_exec(t, name, a[2], a[3]);
    if (fd == AT_FDCWD || !files_is_guest(fd))
        return fd == AT_FDCWD ? -EACCES : -EBADF;
    int result = files_path(p->files, fd, path);
    if (result < 0)
        return result;
    files_show(p->files, path);
    size_t used = strlen(path);
    if (length > 0 && (size_t)snprintf(path + used, sizeof path - used, "/%s", name) >= sizeof path - used)
        return -ENAMETOOLONG;
    return do_exec(t, path, a[2], a[3]);
}
