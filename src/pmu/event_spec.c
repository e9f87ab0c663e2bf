/* Parser of lists and groups of events, and its error messages. event_modifier.c parses what follows a colon. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/event_spec_priv.h"

/* ---- errors */

enum { WINDOW = 70, SENTENCE_MOST = 340 }; /* characters of text shown and of a sentence; they fit into struct error */

/* Replaces each byte by one column, so that the caret's column is the number of bytes before it. */
static char printable(char c)
{
    return isspace((unsigned char)c) ? ' ' : c > ' ' && c < 0x7f ? c : '?';
}

struct quoted quote(struct substring s)
{
    static const char more[] = "…";
    struct quoted q = {""};
    size_t room = sizeof q.text - sizeof more, length = s.length < room ? s.length : room;
    for (size_t i = 0; i < length; i++)
        q.text[i] = printable(s.at[i]);
    if (length < s.length)
        memcpy(q.text + length, more, sizeof more);
    return q;
}

int spec_fail(const struct parser *p, const char *where, const char *format, ...)
{
    char sentence[SENTENCE_MOST], shown[WINDOW + 1] = "";
    size_t length = strlen(p->text), column = (size_t)(where - p->text), begin = 0, end = length;
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (length > WINDOW) {
        begin = column > WINDOW / 2 ? column - WINDOW / 2 : 0;
        begin = begin < length - WINDOW ? begin : length - WINDOW;
        end = begin + WINDOW;
    }
    for (size_t i = begin; i < end; i++)
        shown[i - begin] = printable(p->text[i]);
    return error_set(p->err, -EINVAL, "%s\n%s%s%s\n%*s^", sentence, begin > 0 ? "…" : "", shown,
                     end < length ? "…" : "", (int)(column - begin + (begin > 0)), "");
}

/* ---- lists */

static void skip_space(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

/* Reports that no event name is at p->at. `opened` is the opening brace of the group, or NULL; `before` is the last
 * comma or brace, or NULL. */
static int event_missing(const struct parser *p, const char *opened, const char *before)
{
    bool comma = before && *before == ',';
    switch (*p->at) {
    case ',': return spec_fail(p, p->at, "an event is missing %s", comma ? "between the commas" : "before the comma");
    case ':': return spec_fail(p, p->at, "an event is missing before the colon");
    case '{': return spec_fail(p, p->at, "a group cannot contain a group");
    case '}':
        if (opened == NULL)
            return spec_fail(p, p->at, "this brace closes no group");
        return spec_fail(p, comma ? before : p->at, "an event is missing %s",
                         comma ? "between the comma and the brace" : "between the braces");
    default:
        if (opened)
            return spec_fail(p, opened, "a brace is not closed");
        return spec_fail(p, before, "an event is missing after the comma");
    }
}

static int unknown_event(const struct parser *p, struct substring name)
{
    struct quoted q = quote(name);
    const char *meant = event_suggest(name.at, name.length);
    if (modifier_exists(name))
        return spec_fail(p, name.at,
                         "there is no event '%s': a modifier follows its event and a colon, as in cycles:%s", q.text,
                         q.text);
    if (meant)
        return spec_fail(p, name.at, "there is no event '%s': did you mean '%s'?", q.text, meant);
    return spec_fail(p, name.at, "there is no event '%s': `cyclescope list events` names all", q.text);
}

static int draft_add(struct parser *p, const struct event *event, struct substring name, unsigned group, bool grouped)
{
    struct draft *more = realloc(p->draft, (p->count + 1) * sizeof *more);
    if (more == NULL)
        return error_set(p->err, -ENOMEM, "out of memory for events");
    p->draft = more;
    more[p->count] = (struct draft){.spec = {.event = event,
                                             .privilege = PRIVILEGE_ANY,
                                             .path = event->standard,
                                             .group = group,
                                             .grouped = grouped,
                                             .text = strndup(name.at, name.length)}};
    if (more[p->count].spec.text == NULL)
        return error_set(p->err, -ENOMEM, "out of memory for events");
    p->count++;
    return 0;
}

/* Parses the modifiers at p->at and applies them to the events from `first` on. */
static int read_modifiers(struct parser *p, size_t first, bool of_group)
{
    for (skip_space(p); *p->at == ':'; skip_space(p)) {
        const char *colon = p->at++;
        skip_space(p);
        struct substring m = modifier_take(p);
        if (m.length == 0)
            return spec_fail(p, colon, "a modifier such as u or edge is missing after the colon");
        for (size_t i = first; i < p->count; i++) {
            int code = modifier_apply(p, &p->draft[i], m, of_group);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

static int read_event(struct parser *p, unsigned group, const char *opened, const char *before)
{
    struct substring name = {p->at, strcspn(p->at, ",:{} \t\n\v\f\r")};
    if (name.length == 0)
        return event_missing(p, opened, before);
    const struct event *event = event_find(name.at, name.length);
    if (event == NULL)
        return unknown_event(p, name);
    int code = draft_add(p, event, name, group, opened != NULL);
    p->at += name.length;
    return code != 0 ? code : read_modifiers(p, p->count - 1, false);
}

/* Reports that neither a comma nor the end follows an event or a group. */
static int comma_missing(const struct parser *p)
{
    struct substring word = {p->at, *p->at == '{' ? 1 : strcspn(p->at, ",:{} \t\n\v\f\r")};
    if (*p->at == '}')
        return spec_fail(p, p->at, "this brace closes no group");
    return spec_fail(p, p->at, "a comma is missing before '%s'", quote(word).text);
}

static int read_group(struct parser *p, unsigned group)
{
    const char *opened = p->at++, *before = opened;
    size_t first = p->count;
    for (;;) {
        skip_space(p);
        int code = read_event(p, group, opened, before);
        if (code != 0)
            return code;
        if (*p->at == '}')
            break;
        if (*p->at == '\0')
            return spec_fail(p, opened, "a brace is not closed");
        if (*p->at == '{')
            return spec_fail(p, p->at, "a group cannot contain a group");
        if (*p->at != ',')
            return comma_missing(p);
        before = p->at++;
    }
    p->at++;
    return read_modifiers(p, first, true);
}

static int read_list(struct parser *p, unsigned group)
{
    const char *before = NULL;
    skip_space(p);
    if (*p->at == '\0')
        return spec_fail(p, p->text, "the list of events is empty: `cyclescope list events` names all");
    for (;; group++) {
        size_t first = p->count;
        int code = *p->at == '{' ? read_group(p, group) : read_event(p, group, NULL, before);
        for (size_t i = first; code == 0 && i < p->count; i++)
            code = modifier_check_all(p, &p->draft[i]);
        if (code != 0 || *p->at == '\0')
            return code;
        if (*p->at != ',')
            return comma_missing(p);
        before = p->at++;
        skip_space(p);
    }
}

int event_specs_parse(struct event_specs *s, const char *text, struct error *err)
{
    struct parser p = {.text = text, .at = text, .err = err};
    struct event_spec *of = NULL;
    int code = read_list(&p, s->count > 0 ? s->of[s->count - 1].group + 1 : 0);
    if (code == 0) {
        of = realloc(s->of, (s->count + p.count) * sizeof *of);
        if (of == NULL)
            code = error_set(err, -ENOMEM, "out of memory for events");
        else
            s->of = of;
    }
    for (size_t i = 0; i < p.count; i++)
        if (code == 0)
            s->of[s->count++] = p.draft[i].spec;
        else
            free(p.draft[i].spec.text);
    free(p.draft);
    return code;
}

void event_specs_free(struct event_specs *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->of[i].text);
    free(s->of);
    *s = (struct event_specs){0};
}
