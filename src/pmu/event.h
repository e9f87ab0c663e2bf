/* Events: what a core's performance-monitoring unit can count.
 *
 * Each event has a value in every cycle: how often something occurred, or a number such as the instructions in the ROB.
 * A counter adds up these values (counter.h). An event may have sub-events, selected by mask bits; without a mask all
 * of them count. Events of instructions exist for those that retire and for all, wrong path included. */
#ifndef CYCLESCOPE_PMU_EVENT_H
#define CYCLESCOPE_PMU_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/warm_count.h"

enum event_category {
    CATEGORY_PROGRAM,  /* program characterization */
    CATEGORY_MEMORY,   /* memory accesses */
    CATEGORY_STALL,    /* pipeline stalls */
    CATEGORY_BRANCH,   /* branch prediction */
    CATEGORY_RESOURCE, /* resource utilization */
    CATEGORIES
};

enum event_unit {
    UNIT_OCCURRENCES, /* the value of a cycle is how often it occurred */
    UNIT_CYCLES,      /* 1 in the cycles that it is about, else 0; or all of a stall in the cycle that ends it */
    UNIT_VALUE        /* some number per cycle */
};

/* Which instructions an event is about. */
enum event_path {
    PATH_RETIRED = 1, /* those that retire */
    PATH_SPEC = 2,    /* all, wrong path included */
    PATH_NONE = 0     /* it is no event of instructions */
};

enum { EVENT_MASK_BITS = 16 };

struct event_mask_bit {
    const char *name, *help;
};

struct event {
    const char *name;  /* lower case, digits, '-' and '_' */
    const char *alias; /* perf's name of it, or NULL */
    enum event_category category;
    enum event_unit unit;
    enum warm_trust trust;
    uint8_t paths;                     /* enum event_path that can be asked for */
    uint8_t standard;                  /* the one that counts if none is asked for */
    bool attributed;                   /* it belongs to an instruction: address ranges and classes can select it */
    bool addressed;                    /* and to a data address */
    const struct event_mask_bit *mask; /* EVENT_MASK_BITS rows or fewer, up to one without a name; NULL: no mask */
    const char *help;                  /* one line */
};

extern const struct event events[];
extern const size_t event_count;

/* By name or alias, in any case, '_' and '-' being the same; NULL if there is none. */
const struct event *event_find(const char *name, size_t length);
/* A name that may have been meant, or NULL. */
const char *event_suggest(const char *name, size_t length);
const char *event_category_name(enum event_category c);

#endif
