#include "phases/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "guest/files.h"

#define HEADING "cyclescope sampled run"

/* A line of the file: the values of one window. */
struct row {
    size_t window;
    uint64_t *number;
};

struct kept {
    FILE *file;
    char *path;
    size_t numbers;     /* values of a window */
    struct row *row;    /* what the file had when it was opened */
    size_t count, room; /* rows used and allocated */
};

/* Checksum of a line. */
static uint64_t check_of(size_t window, const uint64_t *number, size_t count)
{
    uint64_t hash = window;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (hash >> 31) ^ number[i]) * UINT64_C(0x9e3779b97f4a7c15) + i;
    return hash;
}

/* Parses a line: window, values and checksum, in hexadecimal. False: the line is incomplete or damaged. */
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
    struct row *more = array_grow(k->row, k->count, &k->room, sizeof *more);
    if (more == NULL)
        return -ENOMEM;
    k->row = more;
    uint64_t *copy = malloc(k->numbers * sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, number, k->numbers * sizeof *copy);
    k->row[k->count++] = (struct row){window, copy};
    return 0;
}

/* Reads lines up to the first that is incomplete or damaged, and truncates the file there. */
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

/* Writes the heading of an empty file, or checks the heading and reads the lines. */
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
        return error_set(err, -EINVAL, "--keep %s: this is not a file that --keep has written", k->path);
    if (strcmp(line, heading) != 0)
        return error_set(err, -EINVAL,
                         "--keep %s: the file is of another run: program, core, points or what is counted differ",
                         k->path);
    return read_rows(k, err);
}

/* The lock belongs to this process, not to its copies: it ends with the run, also if the run is killed. */
static int lock(const struct kept *k, struct error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fileno(k->file), F_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES))
        return 0; /* without locks in this file system, runs are not kept apart */
    return error_set(err, -EBUSY, "--keep %s: another run uses this file: give each its own", k->path);
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
    if (lock(k, err) != 0 || begin(k, key, err) != 0) {
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

int kept_close(struct kept *k, struct error *err)
{
    if (k == NULL)
        return 0;
    bool failed = ferror(k->file);
    failed |= fclose(k->file) != 0;
    int code = failed ? error_set(err, -EIO, "--keep %s: not everything could be written", k->path) : 0;
    kept_free(k);
    return code;
}
