/* Shared by the two files of the parser: event_spec.c parses lists and groups and reports errors, event_modifier.c
 * parses what follows a colon. */
#ifndef CYCLESCOPE_PMU_EVENT_SPEC_PRIV_H
#define CYCLESCOPE_PMU_EVENT_SPEC_PRIV_H

#include "pmu/event_spec.h"

/* A part of the list of events, without a terminator. */
struct substring {
    const char *at;
    size_t length;
};

/* Kinds of modifiers; an event has at most one of each kind. */
enum modifier {
    MODIFIER_PRIVILEGE,
    MODIFIER_EDGE,
    MODIFIER_INV,
    MODIFIER_THRESH,
    MODIFIER_PATH,
    MODIFIER_MASK,
    MODIFIER_IP,
    MODIFIER_ADDR,
    MODIFIER_OP,
    MODIFIER_MARKED,
    MODIFIER_PRELOAD,
    MODIFIER_PERIOD,
    MODIFIER_SHARE,
    MODIFIER_NAME,
    MODIFIERS
};

/* An event while its modifiers are parsed. */
struct draft {
    struct event_spec spec;
    struct substring given[MODIFIERS]; /* the modifier of each kind in the text; `at` is NULL if not given */
};

struct parser {
    const char *text;    /* the whole list */
    const char *at;      /* next character to parse */
    struct draft *draft; /* the events parsed so far */
    size_t count;        /* of drafts */
    struct error *err;
};

/* A part of the text for error messages: shortened if long, with unprintable characters replaced. */
struct quoted {
    char text[48];
};
struct quoted quote(struct substring s);

/* Sets the error: the sentence, the text around `where`, and a caret under it. Returns -EINVAL. */
int spec_fail(const struct parser *p, const char *where, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether this is a modifier, with or without a value. */
bool modifier_exists(struct substring name);
/* Reads the modifier at p->at and moves p->at behind it. Its length is 0 if there is none. */
struct substring modifier_take(struct parser *p);
/* Applies a modifier to the event. `of_group`: the modifier was given to the event's group. */
int modifier_apply(const struct parser *p, struct draft *d, struct substring m, bool of_group) MUST_CHECK;
/* Checks combinations of modifiers, after all have been applied. */
int modifier_check_all(const struct parser *p, const struct draft *d) MUST_CHECK;

#endif
