/* What a user asks a counter to count: `-e l1d-misses,cycles:u,fetch-stalls:edge,committed:thresh=3,{loads,stores}`.
 *
 *     list   = item { "," item }
 *     item   = event | "{" event { "," event } "}" { ":" modifier }      a group is counted together
 *     event  = name { ":" modifier }
 *
 * Modifiers (any order, each at most once; a group's apply to all its members):
 *     u  m  um            privilege: user, machine, both (the default)
 *     edge                count cycles in which the value becomes different from 0 (or passes the threshold)
 *     inv                 with thresh: below it instead of at or above; with edge: the falling edge
 *     thresh=N            count cycles in which the value is at least N
 *     spec  retired       which instructions
 *     mask=A|B            sub-events of the event; `:A|B` without "mask=" is the same if these are mask names of it
 *     ip=FROM-TO          instructions from address FROM to TO, TO not included; both hexadecimal with 0x, or decimal
 *     addr=FROM-TO        data accesses that touch these bytes
 *     op=CLASS|CLASS      instructions of these classes: alu mul div branch load store fpadd fpmul fpdiv fpsqrt
 *     marked              only while the process is marked
 *     preload=N           the counter starts at N instead of 0
 *     period=N            an interrupt or a sample every N
 *     share=N             of time, in multiplexing
 *     name=TEXT           how reports call it; TEXT has no ',', ':', '{' or '}'; not of a group
 * Numbers are decimal, then K, M, G and T stand for powers of 1000, or hexadecimal with 0x. Names and modifiers are
 * case-insensitive. White space may stand around names, modifiers, commas, colons and braces. Letters are not joined
 * as in perf's `cycles:ukp`. A mistake is told with the text and a caret under the character. */
#ifndef CYCLESCOPE_PMU_EVENT_SPEC_H
#define CYCLESCOPE_PMU_EVENT_SPEC_H

#include "base/error.h"
#include "pmu/event.h"

enum privilege { PRIVILEGE_USER = 1, PRIVILEGE_MACHINE = 2, PRIVILEGE_ANY = 3 };

struct address_range {
    uint64_t from, to; /* `to` is not included; both 0: every address */
};

struct event_spec {
    const struct event *event;
    uint32_t mask;     /* bits of event.mask; 0: all */
    uint32_t classes;  /* bits of enum op_class (core/code.h); 0: all */
    uint8_t privilege; /* enum privilege */
    uint8_t path;      /* enum event_path */
    bool mode_named;   /* the privilege was asked for */
    bool edge, invert, marked;
    uint64_t threshold; /* 0: none */
    struct address_range ip, addr;
    uint64_t preload, period; /* 0: none given */
    unsigned share;           /* 0: none given */
    unsigned group; /* members of one group have the same number, from 0 in order; an event without braces is alone */
    bool grouped;   /* it stood in braces */
    char *text;     /* what the user wrote for this event, its group's modifiers included, or its name=; owned */
};

struct event_specs {
    struct event_spec *of;
    size_t count;
};

/* Adds the events of a list to those that are there. 0, -EINVAL with a sentence whose second and third line are the
 * text, cut to a window around the caret, and the caret, or -ENOMEM. Nothing is added then. */
int event_specs_parse(struct event_specs *s, const char *text, struct error *err) MUST_CHECK;
void event_specs_free(struct event_specs *s);

#endif
