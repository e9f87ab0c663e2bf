/* Events: what a core's performance-monitoring unit can count.
 *
 * Each event has a value in every cycle: how often something occurred, or a number such as the instructions in the ROB.
 * A counter adds up these values (pmu.h). An event may have sub-events, selected by mask bits; without a mask all of
 * them count. Events of instructions can be counted for instructions that retire, or for all, wrong path included. */
#ifndef CYCLESCOPE_PMU_EVENT_H
#define CYCLESCOPE_PMU_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/warm_count.h"

enum event_category {
    CATEGORY_PROGRAM,  /* program characterization */
    CATEGORY_MEMORY,   /* memory accesses */
    CATEGORY_STALL,    /* pipeline stalls */
    CATEGORY_BRANCH,   /* branch prediction */
    CATEGORY_RESOURCE, /* resource utilization */
    CATEGORIES
};

enum event_unit {
    UNIT_OCCURRENCES, /* the value of a cycle is how often the event occurred */
    UNIT_CYCLES,      /* 1 or 0 per cycle; or the cycles of a stall, in the cycle that ends it */
    UNIT_VALUE        /* any number per cycle, such as an occupancy */
};

/* Which instructions an event counts. */
enum event_path {
    PATH_RETIRED = 1, /* instructions that retire */
    PATH_SPEC = 2,    /* all instructions, wrong path included */
    PATH_NONE = 0     /* the event does not count instructions */
};

enum { EVENT_MASK_BITS = 16 };

/* A sub-event. */
struct event_mask_bit {
    const char *name, *help;
};

/* A row of event.def. */
struct event {
    const char *name;  /* lower case, digits, '-' and '_' */
    const char *alias; /* perf's name for it, or NULL */
    enum event_category category;
    enum event_unit unit;
    enum warm_trust trust;             /* accuracy after functional warming */
    uint8_t paths;                     /* set of enum event_path that can be selected */
    uint8_t standard;                  /* enum event_path that is counted by default */
    bool attributed;                   /* belongs to an instruction: address ranges and classes can select it */
    bool addressed;                    /* also has a data address, which can select it */
    const struct event_mask_bit *mask; /* up to EVENT_MASK_BITS sub-events; fewer end with a NULL name. NULL: none */
    const char *help;                  /* one line */
};

extern const struct event events[];
extern const size_t event_count;

/* Finds an event by name or alias, ignoring case; NULL if there is none. */
const struct event *event_find(const char *name, size_t length);
/* The event name or alias nearest to a misspelled name, or NULL. */
const char *event_suggest(const char *name, size_t length);
const char *event_category_name(enum event_category c);

#endif
