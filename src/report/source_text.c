#include "report/source_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clean_text.h"
#include "base/array.h"
#include "base/io.h"

struct source_file {
    char *name;
    char *text;  /* all lines, each terminated by a zero byte; NULL: the file cannot be read */
    char **line; /* start of each line */
    size_t lines;
};

enum { TEXT_MOST = 64 << 20 }; /* bytes; a larger file is not source code */

/* Reads a regular file. Names come from DWARF of the guest and could refer to devices or pipes, which are refused. */
static char *read_all(const char *path, size_t *length)
{
    struct stat status;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= TEXT_MOST)
        text = malloc((size_t)status.st_size + 1);
    if (text) {
        ssize_t got = io_read(fd, text, (size_t)status.st_size);
        *length = got > 0 ? (size_t)got : 0;
        text[*length] = '\0';
    }
    close(fd);
    return text;
}

static char *find_text(const struct source_text *s, const char *name, size_t *length)
{
    char *path, *text = NULL;
    if (s->sysroot && asprintf(&path, "%s/%s", s->sysroot, name) >= 0) {
        text = read_all(path, length);
        free(path);
    }
    return text ? text : read_all(name, length);
}

/* Splits the text into lines. A tab becomes one space, so that columns beside the text stay aligned. */
static void split(struct source_file *f, size_t length)
{
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += f->text[i] == '\n';
    f->line = calloc(lines, sizeof *f->line);
    if (f->line == NULL)
        return;
    for (char *at = f->text, *end = at + length; at < end;) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        f->line[f->lines++] = at;
        if (newline == NULL)
            newline = end;
        for (char *c = at; c < newline; c++)
            if (*c == '\t')
                *c = ' ';
        *newline = '\0';
        if (newline > at && newline[-1] == '\r')
            newline[-1] = '\0';
        clean_text(at);
        at = newline + 1;
    }
}

static struct source_file *add_file(struct source_text *s, const char *name)
{
    struct source_file *grown = array_grow(s->file, s->count, &s->room, sizeof *grown);
    size_t length = 0;
    if (grown == NULL)
        return NULL;
    s->file = grown;
    struct source_file f = {.name = strdup(name), .text = find_text(s, name, &length)};
    if (f.text)
        split(&f, length);
    if (f.name == NULL) {
        free(f.text);
        free(f.line);
        return NULL;
    }
    s->file[s->count] = f;
    return &s->file[s->count++];
}

const char *source_line(struct source_text *s, const char *file, unsigned line)
{
    struct source_file *f = NULL;
    for (size_t i = 0; i < s->count && f == NULL; i++)
        if (strcmp(s->file[i].name, file) == 0)
            f = &s->file[i];
    if (f == NULL)
        f = add_file(s, file);
    return f && line > 0 && line <= f->lines ? f->line[line - 1] : NULL;
}

void source_text_free(struct source_text *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->file[i].name);
        free(s->file[i].text);
        free(s->file[i].line);
    }
    free(s->file);
    s->file = NULL;
    s->count = s->room = 0;
}
