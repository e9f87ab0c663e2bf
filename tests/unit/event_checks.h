/* What the tests of the event table share. */
#ifndef EVENT_CHECKS_H
#define EVENT_CHECKS_H

#include "pmu/event_source.h"
#include "pmu/event_spec.h"

/* Fails with the event's name and the fact. */
#define CHECK(e, fact)                                                                                                 \
    do {                                                                                                               \
        if (!(fact))                                                                                                   \
            fail_msg("event '%s': %s", (e)->name, #fact);                                                              \
    } while (0)

/* The number of sub-events. */
static inline unsigned mask_bits(const struct event *e)
{
    unsigned n = 0;
    while (e->mask && n < EVENT_MASK_BITS && e->mask[n].name)
        n++;
    return n;
}

/* An event with a path and a mask, as a user writes it. */
static inline struct event_spec spec_of(const char *text)
{
    struct event_specs s = {0};
    struct error err = {""};
    if (event_specs_parse(&s, text, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(s.count, 1);
    struct event_spec spec = s.of[0];
    event_specs_free(&s);
    return spec;
}

#endif
