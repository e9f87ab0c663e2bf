/* The folder of the upper layer: made at the first change, removed with the last process. The processes of a run hold a
 * lock on it. A folder without a lock is left over from a run that was killed, and the next run removes it. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/overlay.h"

#define SCRATCH_PREFIX "cyclescope-sysroot-"

/* Folders for temporary files, the best first. The last one is the working folder. */
static const char *scratch_parent(int i)
{
    static const char *const parents[] = {"/tmp", "/var/tmp", "/dev/shm", "."};
    return i == 0 ? getenv("TMPDIR") : parents[i - 1];
}
enum { SCRATCH_PARENTS = 5 };

static int make_folder(const char *prefix, char path[PATH_MAX])
{
    for (int i = 0; i < SCRATCH_PARENTS; i++) {
        const char *parent = scratch_parent(i);
        if (parent && snprintf(path, PATH_MAX, "%s/%sXXXXXX", parent, prefix) < PATH_MAX && mkdtemp(path))
            return 0;
    }
    return -ENOSPC;
}

int scratch_folder(char path[PATH_MAX])
{
    return make_folder("cyclescope-", path);
}

/* ---- removal */

static void remove_entry(int folder, const char *name);

/* Removes what a folder contains, and closes it. */
static void empty_folder(int fd)
{
    DIR *entries = fdopendir(fd);
    if (!entries) {
        close(fd);
        return;
    }
    for (const struct dirent *d; (d = readdir(entries)) != NULL;)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            remove_entry(fd, d->d_name);
    closedir(entries);
}

static void remove_entry(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(folder, name, 0700, 0) == 0) /* the guest has taken its own rights away */
        fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        fchmod(fd, 0700);
        empty_folder(fd);
    }
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* Removes the folders of runs that were killed. */
static void sweep(const char *parent)
{
    DIR *entries = opendir(parent);
    if (!entries)
        return;
    for (const struct dirent *d; (d = readdir(entries)) != NULL;) {
        if (strncmp(d->d_name, SCRATCH_PREFIX, strlen(SCRATCH_PREFIX)) != 0)
            continue;
        int fd = openat(dirfd(entries), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        if (fd < 0)
            continue;
        if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_entry(dirfd(entries), d->d_name);
        close(fd);
    }
    closedir(entries);
}

/* ---- use */

/* Opens the folder and locks it. False if it is gone: another run may have swept it before it was locked. */
static bool open_scratch(struct files *f, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    fd = fd >= 0 ? files_make_private(fd) : -1;
    if (fd < 0)
        return false;
    int upper = openat(fd, "upper", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    upper = upper >= 0 ? files_make_private(upper) : -1;
    if (upper >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 && fstat(upper, &st) == 0 && st.st_nlink > 0) {
        f->scratch = fd;
        f->upper = upper;
        return true;
    }
    close(fd);
    if (upper >= 0)
        close(upper);
    return false;
}

void overlay_join(struct files *f)
{
    const struct family *family = f->process ? f->process->family : NULL;
    if (f->upper < 0 && family && family->overlay_made)
        (void)!open_scratch(f, family->overlay_path);
}

int overlay_make(struct files *f)
{
    struct family *family = f->process ? f->process->family : NULL;
    char path[PATH_MAX], upper[PATH_MAX + 8], real[PATH_MAX];
    overlay_join(f);
    if (f->upper >= 0)
        return 0;
    if (!family)
        return -EROFS;
    for (int i = 0; i < SCRATCH_PARENTS; i++)
        if (scratch_parent(i))
            sweep(scratch_parent(i));
    for (int attempt = 0; attempt < 10; attempt++) {
        int error = make_folder(SCRATCH_PREFIX, path);
        if (error < 0)
            return error;
        snprintf(upper, sizeof upper, "%s/upper", path);
        if (mkdir(upper, 0755) != 0 || !realpath(path, real) || strlen(real) >= sizeof family->overlay_path ||
            !open_scratch(f, real))
            continue;
        strcpy(family->overlay_path, real);
        family->overlay_made = true;
        return 0;
    }
    return -ENOSPC;
}

/* Whether another process of the run can still use the layer. */
static bool others_run(struct process *p)
{
    for (const struct member *m = NULL; (m = family_next(p->family, m)) != NULL;)
        if (m != p->member && m->state != MEMBER_ENDED && member_runs(m))
            return true;
    return false;
}

void overlay_end(struct process *p)
{
    struct family *family = p->family;
    if (!family || !family->overlay_made || p->copy || p->member->host_pid != getpid() || others_run(p))
        return;
    family->overlay_made = false;
    int fd = open(family->overlay_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        empty_folder(fd);
    rmdir(family->overlay_path);
}
