#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"
#include "checkpoint/checkpoint_priv.h"
#include "guest/files.h"
#include "guest/state.h"

struct checkpoint_file {
    char *path;              /* as the user wrote it */
    FILE *standard;          /* private stream on standard output, if that is written; or NULL */
    struct output_file file; /* on a private descriptor */
    struct block_writer writer;
};

static int fail(const char *path, int code, struct error *err)
{
    return error_set(err, code, "the checkpoint %.300s cannot be written: %s", path, strerror(-code));
}

/* Returns a new stream on a private duplicate of `fd`; NULL on failure. */
static FILE *open_stream(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, FD_PRIVATE);
    FILE *to = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (copy >= 0 && !to)
        close(copy);
    return to;
}

struct checkpoint_file *checkpoint_create(const char *path, struct error *err)
{
    struct checkpoint_file *file = calloc(1, sizeof *file);
    char *name = strdup(path);
    if (!file || !name) {
        free(file);
        free(name);
        error_set(err, -ENOMEM, "out of memory for a checkpoint");
        return NULL;
    }
    file->path = name;
    int code = 0;
    if (strcmp(path, "-") == 0 && !(file->standard = open_stream(STDOUT_FILENO)))
        code = -errno;
    if (code == 0)
        code = output_file_open(&file->file, "--output", name, file->standard, FD_PRIVATE, err);
    if (code < 0) {
        fail(path, code, err);
        checkpoint_close(file);
        return NULL;
    }
    file->file.durable = true;
    return file;
}

/* Writes all fields. The sysroot is saved as an absolute path, since a restore may run in another working directory. */
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
    FILE *to = open_stream(fileno(file->file.to)); /* the block writer closes its stream */
    if (!to || block_writer_open(&file->writer, &checkpoint_kind, to) < 0) {
        int code = to ? -ENOMEM : -errno;
        if (to)
            fclose(to);
        return fail(file->path, code, err);
    }
    int code = write_state(file, p, warm, err);
    if (block_writer_finish(&file->writer) < 0 && code == 0) {
        *err = file->writer.error;
        code = file->writer.code;
    }
    if (code < 0)
        return code;
    code = output_file_close(&file->file, err);
    return code < 0 ? fail(file->path, code, err) : 0;
}

void checkpoint_close(struct checkpoint_file *file)
{
    if (!file)
        return;
    output_file_abort(&file->file);
    if (file->standard)
        fclose(file->standard);
    free(file->path);
    free(file);
}
