#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/checkpoint_priv.h"
#include "guest/files.h"
#include "guest/state.h"

struct checkpoint {
    FILE *from;
    struct process_config read;   /* configuration as read; owns the strings */
    struct process_config config; /* configuration that the process is created with; the caller may have changed it */
    struct checkpoint_warm warm;  /* `core` is NULL until restored, or if there is no warm state */
    struct block_reader reader;
};

static FILE *open_input(const char *path, struct error *err)
{
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    int code = fd < 0 ? errno : 0;
    if (fd >= 0) {
        fd = files_make_private(fd);
        code = fd < 0 ? -fd : 0;
    }
    FILE *from = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (from)
        return from;
    if (fd >= 0)
        close(fd);
    error_set(err, -code, "the checkpoint %.300s cannot be opened: %s", path, strerror(code ? code : ENOMEM));
    return NULL;
}

struct checkpoint *checkpoint_open(const char *path, struct error *err)
{
    struct checkpoint *c = calloc(1, sizeof *c);
    if (!c) {
        error_set(err, -ENOMEM, "out of memory for a checkpoint");
        return NULL;
    }
    struct fields from = {.from = &c->reader};
    c->from = open_input(path, err);
    int code = c->from ? block_reader_open(&c->reader, &checkpoint_kind, c->from, path, err) : -EINVAL;
    if (code == 0) {
        checkpoint_config_fields(&from, &c->read);
        code = fields_result(&from, err);
    }
    if (code == 0) {
        c->config = c->read;
        return c;
    }
    checkpoint_free(c);
    return NULL;
}

struct process_config *checkpoint_config(struct checkpoint *c)
{
    return &c->config;
}

/* Reads what follows the process: warm state and the end mark, which must be the last bytes of the file. */
static int read_end(struct checkpoint *c, struct error *err)
{
    struct fields from = {.from = &c->reader};
    uint32_t end = 0;
    checkpoint_warm_fields(&from, &c->warm);
    field_u32(&from, &end);
    bool last = fields_check(&from, end == CHECKPOINT_END && c->reader.at == c->reader.end,
                             "its end mark is not where it should be");
    if (last && block_reader_end(&c->reader) == 0)
        return 0;
    *err = c->reader.error;
    return -EINVAL;
}

struct process *checkpoint_restore(struct checkpoint *c, struct error *err)
{
    struct fields from = {.from = &c->reader};
    struct process *p = process_load(&c->config, &from, err);
    if (p && read_end(c, err) == 0)
        return p;
    process_free(p);
    return NULL;
}

const struct checkpoint_warm *checkpoint_warm(const struct checkpoint *c)
{
    return c->warm.core ? &c->warm : NULL;
}

void checkpoint_free(struct checkpoint *c)
{
    if (!c)
        return;
    block_reader_close(&c->reader);
    if (c->from)
        fclose(c->from);
    checkpoint_config_free(&c->read);
    free(c->warm.core);
    free(c->warm.state);
    free(c);
}
