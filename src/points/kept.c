#include "points/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/files.h"

#define HEADING "cyclescope sampled run"

struct row {
    size_t window;
    uint64_t *number;
};

struct kept {
    FILE *file;
    char *path;
    size_t numbers;
    struct row *row;
    size_t count, room;
};

static uint64_t check_of(size_t window, const uint64_t *number, size_t count)
{
    uint64_t hash = window;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (hash >> 31) ^ number[i]) * UINT64_C(0x9e3779b97f4a7c15) + i;
    return hash;
}

/* Window, numbers and check of a line; false if it is not whole. */
static bool read_row(const struct kept *k, const char *line, struct row *row)
{
    char *at;
    size_t length = strlen(line);
    if (length == 0 || line[length - 1] != '\n')
        return false;
    row->window = strtoull(line, &at, 16);
    for (size_t i = 0; i < k->numbers; i++)
        row->number[i] = strtoull(at, &at, 16);
    return strtoull(at, &at, 16) == check_of(row->window, row->number, k->numbers) && *at == '\n';
}

static int add_row(struct kept *k, size_t window, const uint64_t *number)
{
    if (k->count == k->room) {
        size_t room = k->room ? 2 * k->room : 64;
        struct row *more = realloc(k->row, room * sizeof *more);
        if (more == NULL)
            return -ENOMEM;
        k->row = more;
        k->room = room;
    }
    uint64_t *copy = malloc(k->numbers * sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, number, k->numbers * sizeof *copy);
    k->row[k->count++] = (struct row){window, copy};
    return 0;
}

/* Reads all whole lines; what follows the last of them is to be overwritten. */
static int read_rows(struct kept *k, struct error *err)
{
    char *line = NULL;
    size_t size = 0;
    struct row row = {0, malloc(k->numbers * sizeof *row.number)};
    off_t good = ftello(k->file);
    int code = row.number ? 0 : -ENOMEM;
    while (code == 0 && getline(&line, &size, k->file) > 0 && read_row(k, line, &row)) {
        code = add_row(k, row.window, row.number);
        good = ftello(k->file);
    }
    free(line);
    free(row.number);
    if (code == 0 && (fseeko(k->file, good, SEEK_SET) != 0 || ftruncate(fileno(k->file), good) != 0))
        return error_set(err, -errno, "--keep %s: %s", k->path, strerror(errno));
    return code == 0 ? 0 : error_set(err, code, "out of memory for what %s keeps", k->path);
}

static int begin(struct kept *k, uint64_t key, struct error *err)
{
    char heading[128], line[128];
    snprintf(heading, sizeof heading, HEADING " %016" PRIx64 " %zu\n", key, k->numbers);
    if (fgets(line, sizeof line, k->file) == NULL) {
        rewind(k->file);
        if (fputs(heading, k->file) == EOF || fflush(k->file) != 0)
            return error_set(err, -errno, "--keep %s: %s", k->path, strerror(errno));
        return 0;
    }
    if (strncmp(line, HEADING, strlen(HEADING)) != 0)
        return error_set(err, -EINVAL, "--keep %s: this file is something else", k->path);
    if (strcmp(line, heading) != 0)
        return error_set(err, -EINVAL,
                         "--keep %s: the file is of another run: program, core, points or what is counted differ",
                         k->path);
    return read_rows(k, err);
}

static void kept_free(struct kept *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->row[i].number);
    free(k->row);
    free(k->path);
    free(k);
}

struct kept *kept_open(const char *path, uint64_t key, size_t numbers, struct error *err)
{
    struct kept *k = calloc(1, sizeof *k);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), code = errno;
    fd = fd >= 0 ? files_make_private(fd) : -1;
    if (k == NULL || fd < 0) {
        if (fd >= 0)
            close(fd);
        free(k);
        error_set(err, -code, "--keep %s: %s", path, k ? strerror(code) : "out of memory");
        return NULL;
    }
    k->numbers = numbers;
    k->path = strdup(path);
    k->file = fdopen(fd, "r+");
    if (k->file == NULL || k->path == NULL) {
        error_set(err, -ENOMEM, "--keep %s: out of memory", path);
        if (k->file)
            fclose(k->file);
        else
            close(fd);
        kept_free(k);
        return NULL;
    }
    if (begin(k, key, err) != 0) {
        fclose(k->file);
        kept_free(k);
        return NULL;
    }
    return k;
}

const uint64_t *kept_find(const struct kept *k, size_t window)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->row[i].window == window)
            return k->row[i].number;
    return NULL;
}

void kept_add(struct kept *k, size_t window, const uint64_t *number)
{
    fprintf(k->file, "%zx", window);
    for (size_t i = 0; i < k->numbers; i++)
        fprintf(k->file, " %" PRIx64, number[i]);
    fprintf(k->file, " %" PRIx64 "\n", check_of(window, number, k->numbers));
    fflush(k->file);
}

size_t kept_count(const struct kept *k)
{
    return k->count;
}

int kept_close(struct kept *k, struct error *err)
{
    if (k == NULL)
        return 0;
    bool failed = ferror(k->file);
    if (fclose(k->file) != 0 || failed)
        error_set(err, -EIO, "--keep %s: not everything could be written", k->path);
    int code = failed ? -EIO : 0;
    kept_free(k);
    return code;
}
