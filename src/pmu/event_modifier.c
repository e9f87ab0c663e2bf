/* Parser of modifiers: what follows an event and a colon. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "core/code.h"
#include "pmu/event_spec_priv.h"

static const struct modifier_row {
    const char *name;
    enum modifier kind;
    uint8_t argument; /* enum privilege or enum event_path that the modifier stands for */
    bool valued;      /* has a value: NAME=VALUE */
} rows[] = {
    {"u", MODIFIER_PRIVILEGE, PRIVILEGE_USER, false},
    {"m", MODIFIER_PRIVILEGE, PRIVILEGE_MACHINE, false},
    {"um", MODIFIER_PRIVILEGE, PRIVILEGE_ANY, false},
    {"edge", MODIFIER_EDGE, 0, false},
    {"inv", MODIFIER_INV, 0, false},
    {"thresh", MODIFIER_THRESH, 0, true},
    {"spec", MODIFIER_PATH, PATH_SPEC, false},
    {"retired", MODIFIER_PATH, PATH_RETIRED, false},
    {"mask", MODIFIER_MASK, 0, true},
    {"ip", MODIFIER_IP, 0, true},
    {"addr", MODIFIER_ADDR, 0, true},
    {"op", MODIFIER_OP, 0, true},
    {"marked", MODIFIER_MARKED, 0, false},
    {"preload", MODIFIER_PRELOAD, 0, true},
    {"period", MODIFIER_PERIOD, 0, true},
    {"share", MODIFIER_SHARE, 0, true},
    {"name", MODIFIER_NAME, 0, true},
};

enum { ROWS = sizeof rows / sizeof *rows, NAMES_MOST = 240 };

static const char *const class_names[CLASS_COUNT] = {
    [CLASS_ALU] = "alu",     [CLASS_MUL] = "mul",       [CLASS_DIV] = "div",     [CLASS_BRANCH] = "branch",
    [CLASS_LOAD] = "load",   [CLASS_STORE] = "store",   [CLASS_FPADD] = "fpadd", [CLASS_FPMUL] = "fpmul",
    [CLASS_FPDIV] = "fpdiv", [CLASS_FPSQRT] = "fpsqrt",
};

static bool is_word(struct substring s, const char *word)
{
    return strlen(word) == s.length && strncasecmp(word, s.at, s.length) == 0;
}

/* The part before the first `c`, or all of it. */
static struct substring up_to(struct substring s, char c)
{
    const char *found = memchr(s.at, c, s.length);
    return (struct substring){s.at, found ? (size_t)(found - s.at) : s.length};
}

static const struct modifier_row *find_row(struct substring name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (is_word(name, rows[i].name))
            return &rows[i];
    return NULL;
}

bool modifier_exists(struct substring name)
{
    return find_row(up_to(name, '=')) != NULL;
}

struct substring modifier_take(struct parser *p)
{
    struct substring m = {p->at, strcspn(p->at, ",:{}")};
    p->at += m.length;
    if (m.length > 5 && is_word((struct substring){m.at, 5}, "name=")) { /* names may contain spaces */
        while (isspace((unsigned char)m.at[m.length - 1]))
            m.length--;
        return m;
    }
    for (size_t i = 0; i < m.length; i++)
        if (isspace((unsigned char)m.at[i]))
            m.length = i;
    p->at = m.at + m.length;
    return m;
}

/* ---- numbers */

/* The first character that makes the text no valid number; NULL if it is valid. `suffix`: K, M, G or T is allowed. */
static const char *misfit(struct substring v, bool suffix)
{
    bool hex = v.length > 2 && v.at[0] == '0' && (v.at[1] == 'x' || v.at[1] == 'X');
    size_t i = hex ? 2 : 0, first = i;
    while (i < v.length && (hex ? isxdigit((unsigned char)v.at[i]) : isdigit((unsigned char)v.at[i])))
        i++;
    if (suffix && !hex && i > first && i + 1 == v.length && strchr("KMGT", toupper((unsigned char)v.at[i])))
        i++;
    return i > first && i == v.length ? NULL : v.at + (i < v.length ? i : 0);
}

/* Converts text that `misfit` accepts. Returns false if the number is too large. */
static bool to_number(struct substring v, uint64_t *number)
{
    char digits[32];
    if (v.length >= sizeof digits)
        return false;
    memcpy(digits, v.at, v.length);
    digits[v.length] = '\0';
    return parse_count(digits, number) == 0;
}

static int read_number(const struct parser *p, const char *name, struct substring v, uint64_t least, uint64_t most,
                       uint64_t *number)
{
    const char *bad = misfit(v, true);
    if (bad == NULL && (!to_number(v, number) || *number > most))
        return spec_fail(p, v.at, "%s needs a number of at most %llu", name, (unsigned long long)most);
    if (bad == NULL && *number >= least)
        return 0;
    bad = bad ? bad : v.at;
    if (least > 0)
        return spec_fail(p, bad, "%s needs a number of at least %llu", name, (unsigned long long)least);
    return spec_fail(p, bad, "%s needs a number such as 100 or 2M", name);
}

static int read_range(const struct parser *p, const char *name, struct substring v, struct address_range *range)
{
    struct substring from = up_to(v, '-');
    if (from.length == v.length)
        return spec_fail(p, v.at, "%s needs a range such as 0x10000-0x10400", name);
    struct substring to = {v.at + from.length + 1, v.length - from.length - 1};
    const char *bad = v.at + from.length;
    if (from.length > 0 && to.length > 0) {
        bad = misfit(from, false);
        bad = bad ? bad : misfit(to, false);
    }
    if (bad)
        return spec_fail(p, bad, "%s needs two addresses such as 0x10000-0x10400", name);
    if (!to_number(from, &range->from))
        return spec_fail(p, from.at, "%s needs addresses of at most 64 bits", name);
    if (!to_number(to, &range->to))
        return spec_fail(p, to.at, "%s needs addresses of at most 64 bits", name);
    if (range->from >= range->to)
        return spec_fail(p, to.at, "%s needs a range that ends above its start", name);
    return 0;
}

/* ---- names of bits */

/* The name of a bit of a mask or of a set of classes; NULL if there is no such bit. */
static const char *bit_name(const struct event *e, enum modifier kind, unsigned bit)
{
    if (kind == MODIFIER_OP)
        return bit < CLASS_COUNT ? class_names[bit] : NULL;
    return e->mask && bit < EVENT_MASK_BITS ? e->mask[bit].name : NULL;
}

static int find_bit(const struct event *e, enum modifier kind, struct substring name)
{
    for (unsigned bit = 0; bit_name(e, kind, bit); bit++)
        if (is_word(name, bit_name(e, kind, bit)))
            return (int)bit;
    return -1;
}

/* Appends a name to a list, which ends in "…" if not all names fit. */
static void append(char names[NAMES_MOST], const char *name, const char *ending)
{
    static const char more[] = ", …";
    size_t used = strlen(names), tail = sizeof more - 1;
    if (used >= tail && strcmp(names + used - tail, more) == 0)
        return;
    if (used + strlen(name) + strlen(ending) + sizeof ", " + tail > NAMES_MOST)
        memcpy(names + used, more, sizeof more);
    else
        snprintf(names + used, NAMES_MOST - used, "%s%s%s", used ? ", " : "", name, ending);
}

static int unknown_bit(const struct parser *p, const struct event *e, enum modifier kind, struct substring name)
{
    char names[NAMES_MOST] = "";
    for (unsigned bit = 0; bit_name(e, kind, bit); bit++)
        append(names, bit_name(e, kind, bit), "");
    if (kind == MODIFIER_OP)
        return spec_fail(p, name.at, "'%s' is no class of instructions: classes are %s", quote(name).text, names);
    return spec_fail(p, name.at, "'%s' is no sub-event of '%s': its sub-events are %s", quote(name).text, e->name,
                     names);
}

/* Parses NAME|NAME… into a set of bits. */
static int read_bits(const struct parser *p, const struct modifier_row *row, const struct event *e, struct substring v,
                     uint32_t *bits)
{
    if (v.length == 0)
        return spec_fail(p, v.at, "%s needs %s", row->name,
                         row->kind == MODIFIER_OP ? "classes of instructions such as load|store"
                                                  : "sub-events of its event");
    for (const char *end = v.at + v.length;;) {
        struct substring name = up_to(v, '|');
        if (name.length == 0)
            return spec_fail(p, v.length > 0 ? v.at : v.at - 1, "a name is missing beside '|'");
        int bit = find_bit(e, row->kind, name);
        if (bit < 0)
            return unknown_bit(p, e, row->kind, name);
        if (*bits & 1u << bit)
            return spec_fail(p, name.at, "'%s' is named twice", quote(name).text);
        *bits |= 1u << bit;
        v.at += name.length;
        if (v.at == end)
            return 0;
        v.at++;
        v.length = (size_t)(end - v.at);
    }
}

/* ---- modifiers */

/* Why an event cannot have a modifier, as the continuation of a sentence that begins with the event's name; "" if it
 * can. */
static const char *obstacle(const struct event *e, const struct modifier_row *row)
{
    switch (row->kind) {
    case MODIFIER_PATH:
        if (e->paths == PATH_NONE)
            return "is no event of instructions";
        if (e->paths & row->argument)
            return "";
        return e->paths == PATH_RETIRED ? "exists only for instructions that retire"
                                        : "exists only for all instructions, wrong path included";
    case MODIFIER_MASK: return e->mask && e->mask[0].name ? "" : "has no sub-events";
    case MODIFIER_IP:
    case MODIFIER_OP: return e->attributed ? "" : "is no event of instructions";
    case MODIFIER_ADDR: return e->addressed ? "" : "has no data address";
    default: return "";
    }
}

static int unknown_modifier(const struct parser *p, const struct event *e, struct substring m)
{
    char names[NAMES_MOST] = "";
    if (strspn(m.at, "ukhmpeGHIPSDW") >= m.length)
        return spec_fail(p, m.at, "':%s' is a modifier of perf that is not supported: %s", quote(m).text,
                         memchr(m.at, 'p', m.length) ? "`record --precise` makes samples exact"
                                                     : "privileges are u, m and um");
    for (size_t i = 0; i < ROWS; i++)
        if (!*obstacle(e, &rows[i]))
            append(names, rows[i].name, rows[i].valued ? "=" : "");
    for (unsigned bit = 0; bit_name(e, MODIFIER_MASK, bit); bit++)
        append(names, bit_name(e, MODIFIER_MASK, bit), "");
    return spec_fail(p, m.at, "':%s' is no modifier of '%s': modifiers are %s", quote(m).text, e->name, names);
}

/* Reports that an event has two modifiers of one kind: `before`, and then `m`. */
static int given_twice(const struct parser *p, enum modifier kind, struct substring m, struct substring before)
{
    bool same = m.length == before.length && strncasecmp(m.at, before.at, m.length) == 0;
    if (kind == MODIFIER_PATH && !same)
        return spec_fail(p, m.at, "spec and retired exclude each other");
    if (kind == MODIFIER_PRIVILEGE && !same)
        return spec_fail(p, m.at, "the privilege is given twice: um stands for both");
    if (kind == MODIFIER_MASK)
        return spec_fail(p, m.at, "sub-events are given twice: join them by '|'");
    return spec_fail(p, m.at, "'%s' is given twice", quote(up_to(m, '=')).text);
}

static int read_name(const struct parser *p, struct event_spec *s, struct substring v)
{
    if (v.length == 0)
        return spec_fail(p, v.at, "name needs a text");
    for (; isspace((unsigned char)*v.at); v.length--)
        v.at++;
    for (size_t i = 0; i < v.length; i++)
        if (iscntrl((unsigned char)v.at[i]))
            return spec_fail(p, v.at + i, "name needs a text without control characters");
    char *text = strndup(v.at, v.length);
    if (text == NULL)
        return error_set(p->err, -ENOMEM, "out of memory for events");
    free(s->text);
    s->text = text;
    return 0;
}

/* Sets what a modifier says. `v` is its value, or empty at the modifier itself; errors point to `v`. */
static int apply_row(const struct parser *p, struct event_spec *s, const struct modifier_row *row, struct substring v)
{
    uint64_t share = 0;
    int code;
    switch (row->kind) {
    case MODIFIER_PRIVILEGE:
        s->privilege = row->argument;
        s->mode_named = true;
        return 0;
    case MODIFIER_EDGE: s->edge = true; return 0;
    case MODIFIER_INV: s->invert = true; return 0;
    case MODIFIER_PATH: s->path = row->argument; return 0;
    case MODIFIER_MARKED: s->marked = true; return 0;
    case MODIFIER_THRESH:
        code = read_number(p, row->name, v, 0, UINT64_MAX - 1, &s->at_least);
        s->at_least++;
        return code;
    case MODIFIER_PRELOAD: return read_number(p, row->name, v, 0, UINT64_MAX, &s->preload);
    case MODIFIER_PERIOD: return read_number(p, row->name, v, 1, UINT64_MAX, &s->period);
    case MODIFIER_MASK: return read_bits(p, row, s->event, v, &s->mask);
    case MODIFIER_OP: return read_bits(p, row, s->event, v, &s->classes);
    case MODIFIER_IP: return read_range(p, row->name, v, &s->ip);
    case MODIFIER_ADDR: return read_range(p, row->name, v, &s->addr);
    case MODIFIER_NAME: return read_name(p, s, v);
    case MODIFIER_SHARE:
        code = read_number(p, row->name, v, 1, UINT_MAX, &share);
        s->share = (unsigned)share;
        return code;
    case MODIFIERS: break;
    }
    return 0;
}

static int append_text(const struct parser *p, struct event_spec *s, struct substring m)
{
    char *text;
    if (asprintf(&text, "%s:%.*s", s->text, (int)m.length, m.at) < 0)
        return error_set(p->err, -ENOMEM, "out of memory for events");
    free(s->text);
    s->text = text;
    return 0;
}

int modifier_apply(const struct parser *p, struct draft *d, struct substring m, bool of_group)
{
    const struct event *e = d->spec.event;
    struct substring name = up_to(m, '='), value = {m.at, 0};
    const struct modifier_row *row = find_row(name);
    if (row == NULL && name.length == m.length && find_bit(e, MODIFIER_MASK, up_to(m, '|')) >= 0) {
        row = find_row((struct substring){"mask", 4});
        value = m;
    } else if (row == NULL) {
        return unknown_modifier(p, e, m);
    } else if (m.length > name.length + 1) {
        value = (struct substring){m.at + name.length + 1, m.length - name.length - 1};
    }
    if (!row->valued && name.length < m.length)
        return spec_fail(p, m.at + name.length, "%s takes no value", row->name);
    if (d->given[row->kind].at)
        return given_twice(p, row->kind, m, d->given[row->kind]);
    const char *why = obstacle(e, row);
    if (*why)
        return spec_fail(p, m.at, "'%s' %s: %s%s does not apply to it", e->name, why, row->name,
                         row->valued ? "=" : "");
    if (of_group && row->kind == MODIFIER_NAME)
        return spec_fail(p, m.at, "a group has no name: give name= to its events");
    int code = apply_row(p, &d->spec, row, value);
    d->given[row->kind] = m;
    return code != 0 || d->given[MODIFIER_NAME].at ? code : append_text(p, &d->spec, m);
}

int modifier_check_all(const struct parser *p, const struct draft *d)
{
    if (d->spec.invert && !d->spec.edge && d->spec.at_least == 0)
        return spec_fail(p, d->given[MODIFIER_INV].at, "inv needs thresh or edge beside it");
    return 0;
}
