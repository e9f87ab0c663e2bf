/* System calls of a copied process: the rules of syscall.def, and replacements for calls that change files by name. */
#include "guest/copy_calls.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "guest/files_priv.h"
#include "guest/process_copy_priv.h"
#include "guest/syscalls/syscall.h"

/* ---- ending the copy */

void copy_spoil(struct process *p, const char *why, ...)
{
    struct process_copy *s = p->copy;
    va_list args;
    va_start(args, why);
    if (s->spoiled[0] == '\0') {
        int n = snprintf(s->spoiled, sizeof s->spoiled, "it ");
        vsnprintf(s->spoiled + n, sizeof s->spoiled - (size_t)n, why, args);
    }
    va_end(args);
    process_end(p, 0, SIGKILL);
}

int64_t copy_end(struct thread *t, int fd)
{
    copy_spoil(t->process, "uses descriptor %d, which only the run itself can have", fd);
    return SYSCALL_NO_RESULT;
}

/* ---- calls that change files by name, or their attributes: they only check and return what the original would */

static int64_t pretend_success(struct thread *t, const uint64_t a[6])
{
    (void)t;
    (void)a;
    return 0;
}

/* Checks whether a file exists at the path: 0 or a negative errno. */
static int check_exists(struct thread *t, int dirfd, uint64_t path_addr)
{
    struct target target;
    struct stat st;
    int code = thread_lookup(t, dirfd, path_addr, LOOKUP_CREATE | LOOKUP_NAME, &target);
    if (code < 0)
        return code;
    if (fstatat(target.dir, target.name, &st, target.at_flags | AT_SYMLINK_NOFOLLOW) != 0)
        code = -errno;
    target_release(&target);
    return code;
}

static int64_t pretend_change(struct thread *t, const uint64_t a[6])
{
    return check_exists(t, (int)a[0], a[1]);
}

static int64_t pretend_change_at_cwd(struct thread *t, const uint64_t a[6])
{
    return check_exists(t, AT_FDCWD, a[0]);
}

/* Checks whether a file could be created at the path: 0 or a negative errno. */
static int64_t check_creatable(struct thread *t, int dirfd, uint64_t path_addr)
{
    int code = check_exists(t, dirfd, path_addr);
    return code == 0 ? -EEXIST : code == -ENOENT ? 0 : code;
}

static int64_t pretend_create(struct thread *t, const uint64_t a[6])
{
    return check_creatable(t, (int)a[0], a[1]);
}

#define PRETENDS(name, by)                                                                                             \
    int64_t copy_sys_##name(struct thread *t, const uint64_t a[6])                                                     \
    {                                                                                                                  \
        t->process->copy->acted = true;                                                                                \
        return by(t, a);                                                                                               \
    }
PRETENDS(setxattr, pretend_change_at_cwd)
PRETENDS(lsetxattr, pretend_change_at_cwd)
PRETENDS(fsetxattr, pretend_success)
PRETENDS(removexattr, pretend_change_at_cwd)
PRETENDS(lremovexattr, pretend_change_at_cwd)
PRETENDS(fremovexattr, pretend_success)
PRETENDS(mknodat, pretend_create)
PRETENDS(mkdirat, pretend_create)
PRETENDS(renameat2, pretend_change)
PRETENDS(truncate, pretend_change_at_cwd)
PRETENDS(fchmod, pretend_success)
PRETENDS(fchmodat, pretend_change)
PRETENDS(fchmodat2, pretend_change)
PRETENDS(fchown, pretend_success)
PRETENDS(fchownat, pretend_success)
PRETENDS(utimensat, pretend_success)
PRETENDS(sync, pretend_success)
PRETENDS(fsync, pretend_success)
PRETENDS(fdatasync, pretend_success)
PRETENDS(sync_file_range, pretend_success)
PRETENDS(syncfs, pretend_success)
PRETENDS(flock, pretend_success) /* the original holds the lock */
#undef PRETENDS

int64_t copy_sys_symlinkat(struct thread *t, const uint64_t a[6])
{
    t->process->copy->acted = true;
    return check_creatable(t, (int)a[1], a[2]);
}

int64_t copy_sys_linkat(struct thread *t, const uint64_t a[6])
{
    t->process->copy->acted = true;
    int code = check_exists(t, (int)a[0], a[1]);
    return code < 0 ? code : check_creatable(t, (int)a[2], a[3]);
}

/* A name that the copy has created does not exist on the host, but can be removed once. */
int64_t copy_sys_unlinkat(struct thread *t, const uint64_t a[6])
{
    struct target target;
    t->process->copy->acted = true;
    int code = thread_lookup(t, (int)a[0], a[1], LOOKUP_CREATE | LOOKUP_NAME, &target);
    if (code < 0)
        return code;
    bool created = copy_forget_created(t->process->copy, target.dir, target.name);
    target_release(&target);
    return created ? 0 : check_exists(t, (int)a[0], a[1]);
}

/* The segment is the run's own. */
int64_t copy_sys_shmat(struct thread *t, const uint64_t a[6])
{
    (void)a;
    t->process->copy->acted = true;
    return -EACCES;
}

/* ---- the rules */

enum rule { RULE_NONE, RULE_PASS, RULE_OWN, RULE_INSIDE, RULE_ENDS };

/* A row of SYSCALL names its rule; for INSIDE the function must exist. */
#define FUNCTION_PASS(name)   sys_##name
#define FUNCTION_OWN(name)    sys_##name
#define FUNCTION_INSIDE(name) copy_sys_##name
#define FUNCTION_ENDS(name)   NULL

static const struct {
    enum rule rule; /* RULE_NONE: the call is refused or not implemented, in the run as well */
    syscall_fn *function;
} rows[] = {
#define SYSCALL(number, name, copy) [number] = {RULE_##copy, FUNCTION_##copy(name)},
#define SYSCALL_REFUSED(number, name, error)
#define SYSCALL_MISSING(number, name)
#include "guest/syscalls/syscall.def"
#undef SYSCALL
#undef SYSCALL_REFUSED
#undef SYSCALL_MISSING
};

int64_t copy_syscall(struct thread *t, uint64_t number, const uint64_t a[6])
{
    const struct files *f = thread_files(t);
    enum rule rule = number < sizeof rows / sizeof *rows ? rows[number].rule : RULE_NONE;
    switch (rule) {
    case RULE_OWN:
        if (files_is_guest((int)a[0]) && f->borrowed[(int)a[0]])
            return copy_end(t, (int)a[0]);
        break;
    case RULE_PASS:
    case RULE_INSIDE: break;
    case RULE_NONE: return syscall_without_function(t->process, number);
    case RULE_ENDS:
        copy_spoil(t->process, "calls %s, which only the run itself can do", syscall_name(number));
        return SYSCALL_NO_RESULT;
    }
    return rows[number].function(t, a);
}
