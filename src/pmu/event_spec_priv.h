/* What the two files of the parser share: event_spec.c knows lists, groups and how mistakes are told, event_modifier.c
 * what may stand behind a colon. */
#ifndef CYCLESCOPE_PMU_EVENT_SPEC_PRIV_H
#define CYCLESCOPE_PMU_EVENT_SPEC_PRIV_H

#include "pmu/event_spec.h"

/* A part of the text. */
struct slice {
    const char *at;
    size_t length;
};

/* What modifiers say; each can be said once. */
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

/* An event whose modifiers are being read. */
struct draft {
    struct event_spec spec;
    struct slice given[MODIFIERS]; /* where the text says what; `at` is NULL if it does not */
};

struct parser {
    const char *text;    /* all of it */
    const char *at;      /* what is not yet read */
    struct draft *draft; /* the events so far */
    size_t count;
    struct error *err;
};

/* A part of the text as sentences show it: cut if it is long, without what a terminal would not print. */
struct quoted {
    char text[48];
};
struct quoted quote(struct slice s);

/* Leaves the sentence, the text and a caret under `where`; returns -EINVAL. */
int spec_fail(const struct parser *p, const char *where, const char *format, ...) __attribute__((format(printf, 3, 4)));

bool modifier_exists(struct slice name);
/* The modifier at p->at and where it ends; its length is 0 if there is none. */
struct slice modifier_take(struct parser *p);
/* A modifier of the event, or with `of_group` of the group that it is in. */
int modifier_apply(const struct parser *p, struct draft *d, struct slice m, bool of_group) MUST_CHECK;
/* What can be said only when all modifiers are known. */
int modifier_check_all(const struct parser *p, const struct draft *d) MUST_CHECK;

#endif
