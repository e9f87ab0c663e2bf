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
    char *path;      /* where it is to stand, or NULL: nothing is to be renamed */
    char *temporary; /* where it is until then */
    struct block_writer writer;
};

/* The host's file modes are the caller's business. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int fail(const char *path, int code, struct error *err)
{
    return error_set(err, -code, "the checkpoint %.300s cannot be written: %s", path, strerror(code));
}

static int open_temporary(struct checkpoint_file *file, const char *path, struct error *err)
{
    char *whole = path[0] == '/' ? strdup(path) : NULL, here[PATH_MAX];
    if (!whole && (!getcwd(here, sizeof here) || asprintf(&whole, "%s/%s", here, path) < 0))
        return fail(path, errno, err);
    file->path = whole;
    if (!whole || asprintf(&file->temporary, "%s.XXXXXX", whole) < 0) {
        file->temporary = NULL;
        return fail(path, ENOMEM, err);
    }
    int fd = mkostemp(file->temporary, O_CLOEXEC);
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

/* The file, then its name, are on the disk when this is done. */
static int put_in_place(struct checkpoint_file *file, struct error *err)
{
    if (!file->temporary)
        return 0;
    if (fsync(file->fd) != 0 || rename(file->temporary, file->path) != 0)
        return fail(file->path, errno, err);
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
static int write_state(struct checkpoint_file *file, struct process *p, struct error *err)
{
    struct fields to = {.to = &file->writer};
    struct process_config config = *process_configuration(p);
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
    field_u32(&to, &end);
    block_writer_flush(&file->writer);
    return fields_result(&to, err);
}

int checkpoint_write(struct checkpoint_file *file, struct process *p, struct error *err)
{
    FILE *to = fdopen(file->fd, "w");
    if (!to || block_writer_open(&file->writer, &checkpoint_kind, to) < 0) {
        if (to) {
            fclose(to);
            file->fd = -1;
        }
        return error_set(err, -ENOMEM, "out of memory for a checkpoint");
    }
    int code = write_state(file, p, err);
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
