#include "guest/shm_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/files.h"

struct shm_folder {
    char path[PATH_MAX]; /* folder that only the user of the run may enter; the guest's is "shm" in it */
    pid_t owner;         /* process that made it; a forked one does not remove it */
};

/* The guest may change its user: the inner folder is for everybody, the outer one protects it from others. */
static int open_inner(const char *path)
{
    char inner[PATH_MAX];
    if (snprintf(inner, sizeof inner, "%s/shm", path) >= (int)sizeof inner)
        return -ENAMETOOLONG;
    if (mkdir(inner, 0700) != 0 || chmod(inner, 01777) != 0) /* mkdir alone obeys the umask */
        return -errno;
    int fd = open(inner, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 ? files_make_private(fd) : -errno;
}

/* Not in the host's own /dev/shm if there is another place: what lies there is memory, which --memory would have to
 * count. */
struct shm_folder *shm_folder_new(int *fd, struct error *err)
{
    const char *parents[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
    struct shm_folder *folder = calloc(1, sizeof *folder);
    *fd = -ENOENT;
    for (size_t i = 0; folder && i < sizeof parents / sizeof *parents; i++) {
        int n = parents[i] ? snprintf(folder->path, sizeof folder->path, "%s/cyclescope-XXXXXX", parents[i]) : 0;
        if (n <= 0 || n >= (int)sizeof folder->path || !mkdtemp(folder->path))
            continue;
        folder->owner = getpid();
        *fd = open_inner(folder->path);
        if (*fd >= 0)
            return folder;
        shm_folder_remove(folder);
    }
    free(folder);
    error_set(err, *fd, "cannot create a temporary folder: set TMPDIR to a writable folder");
    return NULL;
}

/* Empties an open folder and closes it. Follows no links. The guest may have taken rights away from its folders. */
static void empty_folder(int fd)
{
    DIR *entries = fdopendir(fd);
    const struct dirent *e;
    if (!entries) {
        close(fd);
        return;
    }
    while ((e = readdir(entries)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, e->d_name, 0) == 0)
            continue;
        fchmodat(fd, e->d_name, 0700, AT_SYMLINK_NOFOLLOW);
        int below = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            empty_folder(below);
        unlinkat(fd, e->d_name, AT_REMOVEDIR);
    }
    closedir(entries);
}

void shm_folder_remove(struct shm_folder *folder)
{
    if (folder->owner != getpid())
        return;
    folder->owner = 0;
    int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        empty_folder(fd);
    rmdir(folder->path);
}

void shm_folder_free(struct shm_folder *folder)
{
    if (!folder)
        return;
    shm_folder_remove(folder);
    free(folder);
}
