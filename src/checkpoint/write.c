#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint_priv.h"
#include "guest/files.h"
#include "guest/state.h"

struct checkpoint_file {
    int fd;          /* private; -1 when it has been closed */
    pid_t owner;     /* the processes that the guest forks leave it alone */
    char *path;      /* where it is to stand, or NULL: it has its name already */
    char *temporary; /* the name that it has until then, or NULL: none */
    struct block_writer writer;
};

static int fail(const char *path, int code, struct error *err)
{
    return error_set(err, -code, "the checkpoint %.300s cannot be written: %s", path, strerror(code));
}

/* The host's file modes are the caller's business. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A hidden name beside the file's own, which begins with it for nobody who looks for checkpoints. */
static char *name_beside(const char *path, const char *end)
{
    char *name = NULL;
    int folder = (int)(strrchr(path, '/') - path);
    return asprintf(&name, "%.*s/.%s.%s", folder, path, path + folder + 1, end) < 0 ? NULL : name;
}

/* A file without a name in the folder of `path`, so that nothing of it is left when we are killed. Or -1: the file
 * system has no such files. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
}

static int open_temporary(struct checkpoint_file *file, const char *path, struct error *err)
{
    char here[PATH_MAX];
    file->path = path[0] == '/' ? strdup(path) : NULL;
    if (!file->path && (!getcwd(here, sizeof here) || asprintf(&file->path, "%s/%s", here, path) < 0)) {
        file->path = NULL;
        return fail(path, errno, err);
    }
    int fd = open_nameless(file->path);
    if (fd >= 0)
        return fd;
    file->temporary = name_beside(file->path, "XXXXXX");
    fd = file->temporary ? mkostemp(file->temporary, O_CLOEXEC) : -1;
    if (fd < 0) {
        int code = errno;
        free(file->temporary);
        file->temporary = NULL;
        return fail(path, code, err);
    }
    fchmod(fd, usual_mode());
    return fd;
}

static int open_output(struct checkpoint_file *file, const char *path, struct error *err)
{
    struct stat st;
    bool standard = strcmp(path, "-") == 0;
    int fd;
    if (standard || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
        fd = standard ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return fail(path, errno, err);
    } else if ((fd = open_temporary(file, path, err)) < 0) {
        return fd;
    }
    fd = files_make_private(fd);
    return fd < 0 ? fail(path, -fd, err) : fd;
}

struct checkpoint_file *checkpoint_create(const char *path, struct error *err)
{
    struct checkpoint_file *file = calloc(1, sizeof *file);
    if (!file) {
        error_set(err, -ENOMEM, "out of memory for a checkpoint");
        return NULL;
    }
    file->owner = getpid();
    file->fd = open_output(file, path, err);
    if (file->fd >= 0)
        return file;
    checkpoint_close(file);
    return NULL;
}

/* Gives a file without a name its own, or, if another has that, a hidden one to be renamed from. */
static int give_name(struct checkpoint_file *file)
{
    char self[64], pid[16];
    snprintf(self, sizeof self, "/proc/self/fd/%d", file->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST)
        return -errno;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    file->temporary = name_beside(file->path, pid);
    if (!file->temporary)
        return -ENOMEM;
    unlink(file->temporary); /* of a process that had our number, and was killed */
    if (linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    int code = -errno;
    free(file->temporary);
    file->temporary = NULL;
    return code;
}

/* The file, then its name, are on the disk when this is done. */
static int put_in_place(struct checkpoint_file *file, struct error *err)
{
    if (!file->path)
        return 0;
    int code = fsync(file->fd) == 0 ? 0 : -errno;
    if (code == 0 && !file->temporary)
        code = give_name(file);
    if (code == 0 && file->temporary && rename(file->temporary, file->path) != 0)
        code = -errno;
    if (code < 0)
        return fail(file->path, -code, err);
    free(file->temporary);
    file->temporary = NULL;
    char *slash = strrchr(file->path, '/');
    slash[slash == file->path] = 0;
    int folder = open(file->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder); /* if that fails, the name may be lost with the power, but not the order of things */
        close(folder);
    }
    return 0;
}

/* The sysroot as others find it: not relative to our folder. */
static int write_state(struct checkpoint_file *file, struct process *p, const struct checkpoint_warm *warm,
                       struct error *err)
{
    struct fields to = {.to = &file->writer};
    struct process_config config = *process_configuration(p);
    struct checkpoint_warm cold = {0};
    uint32_t end = CHECKPOINT_END;
    char *sysroot = config.sysroot ? realpath(config.sysroot, NULL) : NULL;
    if (config.sysroot && !sysroot)
        return error_set(err, -errno, "the sysroot %.300s is no longer there", config.sysroot);
    config.sysroot = sysroot;
    checkpoint_config_fields(&to, &config);
    free(sysroot);
    int code = process_save(p, &to, err);
    if (code < 0)
        return code;
    checkpoint_warm_fields(&to, warm ? (struct checkpoint_warm *)warm : &cold);
    field_u32(&to, &end);
    block_writer_flush(&file->writer);
    return fields_result(&to, err);
}

int checkpoint_write(struct checkpoint_file *file, struct process *p, const struct checkpoint_warm *warm,
                     struct error *err)
{
    FILE *to = fdopen(file->fd, "w");
    if (!to || block_writer_open(&file->writer, &checkpoint_kind, to) < 0) {
        if (to) {
            fclose(to);
            file->fd = -1;
        }
        return error_set(err, -ENOMEM, "out of memory for a checkpoint");
    }
    int code = write_state(file, p, warm, err);
    if (code == 0)
        code = put_in_place(file, err);
    file->fd = -1;
    if (block_writer_finish(&file->writer) < 0 && code == 0) {
        *err = file->writer.error;
        code = file->writer.code;
    }
    return code;
}

void checkpoint_close(struct checkpoint_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary && file->owner == getpid())
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    free(file);
}
