/* Parses what-ifs: which parameters change, and to what. */
#include "graph/what_if.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum { NAME_SIZE = 96 };

static const char DIGITS[] = "0123456789.";

/* ---- the table */

static const struct row {
    const char *section, *key;
    enum what_if_change change;
} rows[] = {
#define WHAT_IF(section, key, change) {#section, #key, WHAT_IF_##change},
#define JOINT(name, parameters)
#include "graph/what_if.def"
#undef WHAT_IF
#undef JOINT
};

/* A name for several parameters, which are separated by blanks. */
static const struct joint {
    const char *name, *parameters;
} joints[] = {
#define WHAT_IF(section, key, change)
#define JOINT(name, parameters) {#name, parameters},
#include "graph/what_if.def"
#undef WHAT_IF
#undef JOINT
};

enum { ROWS = sizeof rows / sizeof rows[0], JOINTS = sizeof joints / sizeof joints[0] };

static const struct row *row_find(const char *name)
{
    char known[NAME_SIZE];
    for (unsigned i = 0; i < ROWS; i++) {
        snprintf(known, sizeof known, "%s.%s", rows[i].section, rows[i].key);
        if (strcmp(known, name) == 0)
            return &rows[i];
    }
    return NULL;
}

static const struct param *param_of(const struct row *r)
{
    for (size_t i = 0; i < core_param_count; i++)
        if (strcmp(core_params[i].section, r->section) == 0 && strcmp(core_params[i].key, r->key) == 0)
            return &core_params[i];
    return NULL;
}

bool what_if_name(unsigned i, struct what_if_name *n)
{
    if (i >= JOINTS + ROWS)
        return false;
    if (i < JOINTS) {
        snprintf(n->name, sizeof n->name, "%s", joints[i].name);
        snprintf(n->meaning, sizeof n->meaning, "the same change of %s", joints[i].parameters);
    } else {
        const struct row *r = &rows[i - JOINTS];
        snprintf(n->name, sizeof n->name, "%s.%s", r->section, r->key);
        snprintf(n->meaning, sizeof n->meaning, "%s", param_of(r)->help);
    }
    return true;
}

static int refuse_name(const struct what_if *w, const char *name, struct error *err)
{
    struct suggestion s = suggest_for(name, strlen(name), 1 + (unsigned)strlen(name) / 4);
    struct what_if_name known, meant = {"", ""};
    for (unsigned i = 0; what_if_name(i, &known); i++)
        if (suggest_offer(&s, known.name))
            meant = known;
    for (size_t i = 0; i < core_param_count; i++) { /* a parameter that cannot be changed is no mistyped one */
        snprintf(known.name, sizeof known.name, "%s.%s", core_params[i].section, core_params[i].key);
        if (strcmp(known.name, name) == 0)
            meant.name[0] = '\0';
    }
    if (meant.name[0])
        return error_set(err, -EINVAL, "--what-if %s: '%s' is not a parameter; did you mean '%s'?", w->text, name,
                         meant.name);
    return error_set(
        err, -EINVAL,
        "--what-if %s: the dependence graph cannot evaluate %s; it can evaluate widths, latencies, sizes of "
        "queues, units and perfect structures: `cyclescope list what-ifs` names all",
        w->text, name);
}

/* ---- values */

/* Whether the text is a change of a number, and not a value. */
static bool is_change(const char *text)
{
    return text[0] == '+' || text[0] == '-' || (text[0] == 'x' && text[strspn(text + 1, DIGITS) + 1] == '\0');
}

/* The value after a change. Returns false if the text is not a change. */
static bool changed_value(const char *text, uint64_t before, double *value)
{
    size_t length = strspn(text + 1, DIGITS);
    bool percent = text[0] != 'x' && text[1 + length] == '%';
    char *end;
    double by = strtod(text + 1, &end);
    if (length == 0 || end != text + 1 + length || *(end + percent))
        return false;
    double change = percent ? (double)before * by / 100 : by;
    *value = text[0] == 'x' ? (double)before * by : (double)before + (text[0] == '-' ? -change : change);
    return true;
}

/* Puts "--what-if TEXT" in place of the origin with which a message begins, which ends with a colon. */
static int blame(const struct what_if *w, int code, struct error *err)
{
    char message[sizeof err->text];
    const char *colon = strstr(err->text, ": ");
    snprintf(message, sizeof message, "%s", colon ? colon + 2 : err->text);
    return error_set(err, code, "--what-if %.*s: %s", WHAT_IF_TEXT, w->text, message);
}

/* Writes the value that the parameter gets. */
static int resolve(const struct what_if *w, const struct param *p, const char *value, char *to, size_t size,
                   struct error *err)
{
    uint64_t before = param_value(&w->core, p);
    double after;
    if (!is_change(value)) {
        snprintf(to, size, "%s", value);
        return 0;
    }
    if (p->type != PARAM_COUNT && p->type != PARAM_SIZE)
        return error_set(err, -EINVAL, "--what-if %s: %s.%s is not a number, so give a value instead of %s", w->text,
                         p->section, p->key, value);
    if (!changed_value(value, before, &after))
        return error_set(err, -EINVAL, "--what-if %s: %s.%s=%s must be a value, or a change such as +3, -50%% or x2",
                         w->text, p->section, p->key, value);
    if (before == 0)
        return error_set(err, -EINVAL, "--what-if %s: %s.%s is 0, no number to change: give a value", w->text,
                         p->section, p->key);
    if (round(after) < (double)p->least || round(after) > (double)p->most)
        return error_set(err, -EINVAL,
                         "--what-if %s: %s.%s is %" PRIu64 ", and must lie between %" PRIu64 " and %" PRIu64
                         " after the change",
                         w->text, p->section, p->key, before, p->least, p->most);
    snprintf(to, size, "%.0f", round(after));
    return 0;
}

static int set(struct what_if *w, const struct core_config *core, const char *name, const char *value,
               struct error *err)
{
    char setting[WHAT_IF_TEXT + NAME_SIZE], resolved[WHAT_IF_TEXT];
    const struct row *r = row_find(name);
    if (r == NULL)
        return refuse_name(w, name, err);
    const struct param *p = param_of(r);
    int code = resolve(w, p, value, resolved, sizeof resolved, err);
    if (code != 0)
        return code;
    snprintf(setting, sizeof setting, "%s=%s", name, resolved);
    code = core_config_set(&w->core, setting, err);
    if (code != 0)
        return blame(w, code, err);
    if (r->change == WHAT_IF_SET && param_value(&w->core, p) < param_value(core, p))
        return error_set(err, -EINVAL,
                         "--what-if %s: %s is yes on this core, so the run has no misses from which to evaluate no",
                         w->text, name);
    w->changes |= r->change;
    return 0;
}

/* One parameter, or all that a name stands for. */
static int set_named(struct what_if *w, const struct core_config *core, const char *name, const char *value,
                     struct error *err)
{
    char names[WHAT_IF_TEXT], *at, *next;
    snprintf(names, sizeof names, "%s", name);
    for (unsigned i = 0; i < JOINTS; i++)
        if (strcmp(joints[i].name, name) == 0)
            snprintf(names, sizeof names, "%s", joints[i].parameters);
    int code = 0;
    for (at = strtok_r(names, " ", &next); code == 0 && at; at = strtok_r(NULL, " ", &next))
        code = set(w, core, at, value, err);
    return code;
}

/* ---- texts */

/* The settings of one what-if: NAME=VALUE with + between them. A sign at the start of a value belongs to it. */
static int parse(struct what_if *w, const struct core_config *core, struct error *err)
{
    int code = 0;
    for (const char *at = w->text; code == 0;) {
        char name[NAME_SIZE], value[NAME_SIZE];
        size_t length = strcspn(at, "=+");
        if (at[length] != '=' || length == 0 || length >= sizeof name)
            return error_set(err, -EINVAL,
                             "--what-if %s: must be section.key=value, such as l2.latency=10, or several "
                             "of these with + between them",
                             w->text);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + 1;
        length = (at[0] == '+') + strcspn(at + (at[0] == '+'), "+");
        if (length >= sizeof value)
            length = sizeof value - 1;
        snprintf(value, sizeof value, "%.*s", (int)length, at);
        code = set_named(w, core, name, value, err);
        at += length;
        if (*at++ == '\0')
            break;
    }
    return code;
}

static int add(struct what_ifs *w, const struct core_config *core, const char *text, size_t length, struct error *err)
{
    if (length >= WHAT_IF_TEXT)
        return error_set(err, -EINVAL, "--what-if: a what-if has at most %d characters", WHAT_IF_TEXT - 1);
    if (w->count == GRAPH_WHAT_IFS)
        return error_set(err, -EINVAL, "--what-if: there can be at most %d what-ifs", GRAPH_WHAT_IFS);
    struct what_if *more = realloc(w->of, (w->count + 1) * sizeof *more);
    if (more == NULL)
        return error_set(err, -ENOMEM, "out of memory for what-ifs");
    w->of = more;
    struct what_if *one = &w->of[w->count++];
    *one = (struct what_if){.core = *core};
    memcpy(one->text, text, length);
    int code = parse(one, core, err);
    if (code == 0 && (code = core_config_check(&one->core, err)) != 0)
        code = blame(one, code, err);
    if (code == 0 && (code = graph_check(&one->core, err)) != 0)
        code = blame(one, code, err);
    return code;
}

int what_ifs_add(struct what_ifs *w, const struct core_config *core, const char *text, struct error *err)
{
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        int code = add(w, core, at, length, err);
        if (code != 0 || at[length] == '\0')
            return code;
        at += length + 1;
    }
}

void what_ifs_free(struct what_ifs *w)
{
    free(w->of);
    *w = (struct what_ifs){0};
}

void what_if_describe(const struct what_if *w, const struct core_config *core, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < core_param_count && used < size; i++) {
        const struct param *p = &core_params[i];
        char before[32], after[32];
        if (param_value(core, p) == param_value(&w->core, p))
            continue;
        param_text(core, p, before, sizeof before);
        param_text(&w->core, p, after, sizeof after);
        used += (size_t)snprintf(text + used, size - used, "%s%s.%s %s -> %s", used ? ", " : "", p->section, p->key,
                                 before, after);
    }
}
