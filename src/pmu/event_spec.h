/* What a user wants a counter to count, such as
 *
 *     -e l1d_misses,cycles:u,fetch_stalls:edge,instructions:thresh=3,{loads,stores}
 *
 *     list   = item { "," item }
 *     item   = event | "{" event { "," event } "}" { ":" modifier }      events of a group are counted together
 *     event  = name { ":" modifier }
 *
 * Modifiers (any order, each at most once; those of a group apply to all its members):
 *     u  m  um            privilege: user, machine, both (the default)
 *     edge                count cycles in which the value becomes different from 0 (or passes the threshold)
 *     inv                 with thresh: count cycles in which it is not; with edge: count falling edges
 *     thresh=N            count cycles in which the value is more than N
 *     spec  retired       all instructions, wrong path included, or only those that retire
 *     mask=A|B            sub-events of the event; `:A|B` without "mask=" is the same if A is one of its sub-events
 *     ip=FROM-TO          instructions from address FROM to TO, TO not included; both hexadecimal with 0x, or decimal
 *     addr=FROM-TO        data accesses that touch these bytes
 *     op=CLASS|CLASS      instructions of these classes: alu mul div branch load store fpadd fpmul fpdiv fpsqrt
 *     marked              only while the process is marked
 *     preload=N           the counter starts at N instead of 0
 *     period=N            an interrupt or a sample every N
 *     share=N             share of time in multiplexing, relative to other events
 *     name=TEXT           label in reports; TEXT has no ',', ':', '{' or '}'; not for a group
 * Numbers are hexadecimal with 0x, or decimal with an optional suffix K, M, G or T for a power of 1000. Names and
 * modifiers are case-insensitive. White space is allowed around names, modifiers, commas, colons and braces. Letters
 * cannot be joined as in perf's `cycles:ukp`. An error message shows the text with a caret under the character. */
#ifndef CYCLESCOPE_PMU_EVENT_SPEC_H
#define CYCLESCOPE_PMU_EVENT_SPEC_H

#include "base/error.h"
#include "pmu/event.h"

enum privilege { PRIVILEGE_USER = 1, PRIVILEGE_MACHINE = 2, PRIVILEGE_ANY = 3 };

struct address_range {
    uint64_t from, to; /* `to` is excluded; both 0: every address */
};

/* One event with its modifiers. */
struct event_spec {
    const struct event *event;
    uint32_t mask;             /* bits of event.mask; 0: all */
    uint32_t classes;          /* bits of enum op_class (core/code.h); 0: all */
    uint8_t privilege;         /* enum privilege */
    uint8_t path;              /* enum event_path */
    bool mode_named;           /* the user gave a privilege modifier */
    bool edge, invert, marked; /* modifiers edge, inv and marked */
    uint64_t at_least;         /* thresh=N is N + 1, the least value that counts; 0: none */
    struct address_range ip, addr;
    uint64_t preload, period; /* 0: none given */
    unsigned share;           /* 0: none given */
    unsigned group;           /* number of its group, from 0 in order; an event without braces is a group of its own */
    bool grouped;             /* the user wrote it in braces */
    char *text;               /* label: TEXT of name=, or what the user wrote for this event and its group; owned */
};

/* The unit of what a spec counts: with `edge` how often the event begins, with a threshold cycles. */
static inline enum event_unit event_spec_unit(const struct event_spec *s)
{
    return s->edge ? UNIT_OCCURRENCES : s->at_least ? UNIT_CYCLES : s->event->unit;
}

struct event_specs {
    struct event_spec *of;
    size_t count;
};

/* Parses a list and appends its events. Returns 0, or -EINVAL or -ENOMEM, and then appends nothing. The message of
 * -EINVAL has three lines: a sentence, the text around the error, and a caret under the error. */
int event_specs_parse(struct event_specs *s, const char *text, struct error *err) MUST_CHECK;
void event_specs_free(struct event_specs *s);

#endif
