/* Reads the phases of a run from a CSV file that `cyclescope phases --csv` wrote. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cmd/stat_series.h"

/* The columns that are read. Their names are in the first line of the file. */
enum { START, INSTRUCTIONS, CLUSTER, NAMES };
static const char *const names[NAMES] = {"start", "instructions", "cluster"};

struct strip {
    const char *path;
    FILE *from;
    char *line;
    size_t line_room;           /* allocated bytes of `line` */
    size_t number;              /* number of the current line, from 1 */
    int column[NAMES];          /* position of each column, from 0 */
    struct series_phase *phase; /* phases so far */
    size_t count, room;         /* used and allocated elements of `phase` */
};

static bool next_line(struct strip *s)
{
    ssize_t length = getline(&s->line, &s->line_room, s->from);
    if (length < 0)
        return false;
    s->number++;
    while (length > 0 && isspace((unsigned char)s->line[length - 1]))
        s->line[--length] = '\0';
    return true;
}

static int read_names(struct strip *s, struct error *err)
{
    int column = 0;
    for (unsigned n = 0; n < NAMES; n++)
        s->column[n] = -1;
    if (next_line(s)) {
        for (char *rest = s->line, *field; (field = strsep(&rest, ",")) != NULL; column++)
            for (unsigned n = 0; n < NAMES; n++)
                if (strcmp(field, names[n]) == 0)
                    s->column[n] = column;
    }
    for (unsigned n = 0; n < NAMES; n++)
        if (s->column[n] < 0)
            return error_set(err, -EINVAL, "--phases %s: there is no column '%s'; `cyclescope phases --csv` writes it",
                             s->path, names[n]);
    return 0;
}

static bool parse_number(const char *text, uint64_t *n)
{
    char *end;
    errno = 0;
    *n = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0;
}

static int read_row(struct strip *s, struct error *err)
{
    uint64_t value[NAMES] = {0};
    unsigned found = 0;
    int column = 0;
    for (char *rest = s->line, *field; (field = strsep(&rest, ",")) != NULL; column++)
        for (unsigned n = 0; n < NAMES; n++)
            found += s->column[n] == column && parse_number(field, &value[n]);
    uint64_t end = s->count ? s->phase[s->count - 1].from + s->phase[s->count - 1].insns : 0;
    if (found != NAMES || value[CLUSTER] > INT32_MAX)
        return error_set(err, -EINVAL, "--phases %s: line %zu has no start, instructions and cluster", s->path,
                         s->number);
    if (value[START] < end || value[INSTRUCTIONS] > UINT64_MAX - value[START])
        return error_set(err, -EINVAL, "--phases %s: line %zu begins before the previous interval ends", s->path,
                         s->number);
    struct series_phase *phase = array_grow(s->phase, s->count, &s->room, sizeof *phase);
    if (phase == NULL)
        return error_set(err, -ENOMEM, "out of memory for phases");
    s->phase = phase;
    s->phase[s->count++] = (struct series_phase){value[START], value[INSTRUCTIONS], (unsigned)value[CLUSTER]};
    return 0;
}

int phase_strip_read(const char *path, struct series_phase **phase, size_t *count, struct error *err)
{
    struct strip s = {.path = path, .from = fopen(path, "re")};
    if (s.from == NULL)
        return error_set(err, -errno, "--phases %s: %s", path, strerror(errno));
    int code = read_names(&s, err);
    while (code == 0 && next_line(&s))
        code = read_row(&s, err);
    if (code == 0 && ferror(s.from))
        code = error_set(err, -EIO, "--phases %s: %s", path, strerror(errno));
    if (code == 0 && s.count == 0)
        code = error_set(err, -EINVAL, "--phases %s: the file contains no phases", path);
    fclose(s.from);
    free(s.line);
    if (code != 0)
        free(s.phase);
    *phase = code == 0 ? s.phase : NULL;
    *count = code == 0 ? s.count : 0;
    return code;
}
