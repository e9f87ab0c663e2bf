/* Reads core files and single settings. inih parses a line. This file passes lines to inih one by one, so that each
 * message has its line number, and so that inih's continuation lines and its truncation of long lines never apply. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "core/config_priv.h"
#include "core/cores.h"

enum { BASES_MOST = 8, FILE_BYTES_MOST = 1 << 20 };

struct reading {
    struct core_config *c; /* where values go */
    const char *file;      /* name of the file in messages */
    const char *at, *end;  /* text not read yet */
    unsigned line;         /* number of the last line read, from 1 */
    unsigned depth;        /* nesting depth of bases */
    bool has_base;         /* `base` was given */
    bool failed;           /* `err` has the first message; reading stops */
    struct error *err;
};

static int read_text(struct reading *r);

/* Sets the error message with file and line, and stops reading. Returns 0, inih's code for failure. */
__attribute__((format(printf, 2, 3))) static int fail(struct reading *r, const char *format, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    error_set(r->err, -EINVAL, "%s:%u: %s", r->file, r->line, sentence);
    r->failed = true;
    return 0;
}

static bool is_events(const char *section)
{
    return strcmp(section, "events") == 0;
}

static bool section_exists(const char *name)
{
    if (is_events(name))
        return true;
    for (size_t i = 0; i < core_param_count; i++)
        if (strcmp(core_params[i].section, name) == 0)
            return true;
    return false;
}

/* Checks a line that begins with a bracket. inih would accept an unknown section without keys, and text after `]`. */
static void check_section(struct reading *r, const char *line)
{
    char name[48], hint[120];
    const char *end = strchr(line, ']');
    if (end == NULL || end[1] != '\0') {
        fail(r, "'%.40s' must be a section such as [l1d], alone on its line", line);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(end - line - 1), line + 1);
    if (!section_exists(name)) {
        suggest_section(name, hint, sizeof hint);
        fail(r, "there is no section '%s'; %s", name, hint);
    }
}

/* Returns where a comment begins: at a `;` or `#` at the start of the line or after white space. */
static size_t before_comment(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((line[i] == ';' || line[i] == '#') && (i == 0 || isspace((unsigned char)line[i - 1])))
            return i;
    return length;
}

/* inih's reader callback: copies the next line, without comment and surrounding white space. */
static char *next_line(char *to, int room, void *stream)
{
    struct reading *r = stream;
    if (r->failed || r->at == r->end)
        return NULL;
    const char *line = r->at, *newline = memchr(line, '\n', (size_t)(r->end - line));
    const char *stop = newline ? newline : r->end;
    r->at = newline ? newline + 1 : r->end;
    r->line++;
    while (line < stop && isspace((unsigned char)*line))
        line++;
    size_t length = before_comment(line, (size_t)(stop - line));
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    if (length + 2 > (size_t)room) {
        fail(r, "the line is longer than %d characters", room - 2);
        return NULL;
    }
    memcpy(to, line, length);
    to[length] = '\0';
    if (to[0] == '[')
        check_section(r, to);
    return r->failed ? NULL : to;
}

/* `base = NAME`: reads that core first. Its values count as given by no line. */
static int take_base(struct reading *r, const char *name)
{
    char names[256];
    const char *text = core_text(name);
    if (text == NULL) {
        core_names(names, sizeof names);
        return fail(r, "there is no base core '%.40s': cores are %s", name, names);
    }
    if (r->has_base)
        return fail(r, "base is given twice");
    if (r->depth == BASES_MOST)
        return fail(r, "'%.40s' has itself as its base", name);
    r->has_base = true;
    struct reading base = {.c = r->c, .file = name, .at = text, .end = text + strlen(text), .err = r->err};
    base.depth = r->depth + 1;
    r->failed = read_text(&base) != 0;
    memset(r->c->origin, 0, sizeof r->c->origin);
    for (uint32_t i = 0; i < r->c->rule_count; i++)
        r->c->rule[i].origin = 0;
    return !r->failed;
}

/* Handles a key of [events]. */
static int take_rule(struct reading *r, const char *event, const char *value)
{
    char where[160];
    const struct counter_rule *before = rule_find(r->c, event);
    if (before && before->origin != 0)
        return fail(r, "events.%s is given twice, first in line %u", before->event, before->origin);
    snprintf(where, sizeof where, "%s:%u", r->file, r->line);
    r->failed = rule_parse(r->c, event, value, where, r->line, r->err) != 0;
    return !r->failed;
}

/* inih's handler callback: sets one parameter. */
static int take(void *user, const char *section, const char *key, const char *value)
{
    struct reading *r = user;
    char name[96], hint[120], where[160];
    if (*section == '\0' && strcmp(key, "base") == 0)
        return take_base(r, value);
    if (*section == '\0')
        return fail(r, "'%.40s' comes before any section such as [l1d]; only 'base = CORE' may", key);
    if (is_events(section))
        return take_rule(r, key, value);
    const struct param *p = param_find(section, key);
    if (p == NULL) {
        snprintf(name, sizeof name, "%s.%.40s", section, key);
        suggest_param(name, hint, sizeof hint);
        return fail(r, "'%s' is not a parameter; %s", name, hint);
    }
    uint32_t *origin = &r->c->origin[p - core_params];
    if (*origin != 0)
        return fail(r, "%s.%s is given twice, first in line %u", section, key, *origin);
    *origin = r->line;
    snprintf(where, sizeof where, "%s:%u", r->file, r->line);
    r->failed = param_parse(r->c, p, value, where, r->err) != 0;
    return !r->failed;
}

static int read_text(struct reading *r)
{
    int bad_line = ini_parse_stream(next_line, r, take, r);
    if (!r->failed && bad_line != 0) {
        r->line = (unsigned)bad_line;
        fail(r, "neither a section such as [l1d] nor 'key = value'");
    }
    return r->failed ? -EINVAL : 0;
}

/* Names the core after its file, without folder and suffix. */
static void name_core(struct core_config *c, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    snprintf(c->name, sizeof c->name, "%.*s", length, name);
    snprintf(c->file, sizeof c->file, "%s", file);
}

int core_config_parse(struct core_config *c, const char *text, size_t length, const char *file, struct error *err)
{
    core_config_default(c);
    name_core(c, file);
    if (memchr(text, '\0', length) != NULL)
        return error_set(err, -EINVAL, "%s: not a core file: it contains a zero byte", c->file);
    struct reading r = {.c = c, .file = c->file, .at = text, .end = text + length, .err = err};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.at += 3; /* byte order mark, which some editors write before UTF-8 */
    return read_text(&r);
}

/* Reads up to `room` bytes of a file. Returns their number or a negative errno. */
static ssize_t load(const char *path, char *to, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t length = io_read(fd, to, room);
    close(fd);
    return length;
}

static int no_such_core(const char *name, int code, struct error *err)
{
    char names[256];
    if (code == -ENOENT && strchr(name, '/') == NULL) {
        core_names(names, sizeof names);
        return error_set(err, code, "there is no core '%.80s': cores are %s, or give a file", name, names);
    }
    return error_set(err, code, "core file '%.200s': %s", name, strerror(-code));
}

int core_config_read(struct core_config *c, const char *name_or_path, struct error *err)
{
    const char *text = core_text(name_or_path);
    if (text != NULL)
        return core_config_parse(c, text, strlen(text), name_or_path, err);
    char *loaded = malloc(FILE_BYTES_MOST + 1);
    if (loaded == NULL)
        return error_set(err, -ENOMEM, "out of memory for a core file");
    ssize_t length = load(name_or_path, loaded, FILE_BYTES_MOST + 1);
    int code;
    if (length < 0)
        code = no_such_core(name_or_path, (int)length, err);
    else if (length > FILE_BYTES_MOST)
        code = error_set(err, -EFBIG, "%.200s: not a core file: it is larger than 1M", name_or_path);
    else
        code = core_config_parse(c, loaded, (size_t)length, name_or_path, err);
    free(loaded);
    return code;
}

/* ---- single settings */

/* Copies the text without surrounding white space. Returns false if `to` is too small. */
static bool copy_trimmed(char *to, size_t size, const char *from, size_t length)
{
    while (length > 0 && isspace((unsigned char)*from)) {
        from++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    if (length >= size)
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

int core_config_set(struct core_config *c, const char *setting, struct error *err)
{
    char name[96], section[96], value[96], hint[120], where[128];
    const char *equals = strchr(setting, '=');
    size_t length = equals ? (size_t)(equals - setting) : 0;
    snprintf(where, sizeof where, "--set %.80s", setting);
    if (equals == NULL || !copy_trimmed(name, sizeof name, setting, length) ||
        !copy_trimmed(value, sizeof value, equals + 1, strlen(equals + 1)))
        return error_set(err, -EINVAL, "%s: must be section.key=value, such as l1d.size=32K", where);
    size_t before_dot = strcspn(name, ".");
    memcpy(section, name, before_dot);
    section[before_dot] = '\0';
    if (name[before_dot] && is_events(section)) {
        int done = rule_parse(c, name + before_dot + 1, value, where, ORIGIN_SETTING + c->settings, err);
        c->settings += done == 0;
        return done;
    }
    const struct param *p = name[before_dot] ? param_find(section, name + before_dot + 1) : NULL;
    if (p == NULL) {
        suggest_param(name, hint, sizeof hint);
        return error_set(err, -EINVAL, "%s: '%s' is not a parameter; %s", where, name, hint);
    }
    int code = param_parse(c, p, value, where, err);
    if (code == 0)
        c->origin[p - core_params] = ORIGIN_SETTING + c->settings++;
    return code;
}
