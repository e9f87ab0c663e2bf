/* A table of events of its own for the tests of the parser: one event of each kind that the parser tells apart, and
 * sentences that do not change when an event is added. It takes the place of the library's, which is then not linked.
 */
#ifndef EVENT_FIXTURE_H
#define EVENT_FIXTURE_H

#include "pmu/event.h"

static const struct event_mask_bit few_masks[] = {
    {"load", "by loads"}, {"store", "by stores"}, {"fill", "by both"}, {0}};

/* As many as there can be, so that no row ends them, with more letters than a sentence has room for. */
static const struct event_mask_bit all_masks[EVENT_MASK_BITS] = {
    {"sub-event-number-0", "x"},  {"sub-event-number-1", "x"},  {"sub-event-number-2", "x"},
    {"sub-event-number-3", "x"},  {"sub-event-number-4", "x"},  {"sub-event-number-5", "x"},
    {"sub-event-number-6", "x"},  {"sub-event-number-7", "x"},  {"sub-event-number-8", "x"},
    {"sub-event-number-9", "x"},  {"sub-event-number-10", "x"}, {"sub-event-number-11", "x"},
    {"sub-event-number-12", "x"}, {"sub-event-number-13", "x"}, {"sub-event-number-14", "x"},
    {"sub-event-number-15", "x"},
};

enum { BOTH_PATHS = PATH_RETIRED | PATH_SPEC };

const struct event events[] = {
    {.name = "cycles", .alias = "cpu-cycles", .category = CATEGORY_PROGRAM, .unit = UNIT_CYCLES, .help = "cycles"},
    {.name = "instructions",
     .paths = PATH_RETIRED,
     .standard = PATH_RETIRED,
     .attributed = true,
     .help = "those that retire"},
    {.name = "fetched", .paths = PATH_SPEC, .standard = PATH_SPEC, .attributed = true, .help = "all instructions"},
    {.name = "loads",
     .paths = BOTH_PATHS,
     .standard = PATH_RETIRED,
     .attributed = true,
     .addressed = true,
     .help = "loads"},
    {.name = "stores",
     .paths = BOTH_PATHS,
     .standard = PATH_SPEC,
     .attributed = true,
     .addressed = true,
     .help = "stores"},
    {.name = "l1d_misses",
     .alias = "L1-dcache-load-misses",
     .category = CATEGORY_MEMORY,
     .paths = BOTH_PATHS,
     .standard = PATH_RETIRED,
     .attributed = true,
     .addressed = true,
     .mask = few_masks,
     .help = "misses"},
    {.name = "fetch_stalls", .category = CATEGORY_STALL, .unit = UNIT_CYCLES, .help = "cycles without a fetch"},
    {.name = "waits", .category = CATEGORY_STALL, .unit = UNIT_CYCLES, .mask = all_masks, .help = "cycles of waiting"},
};
const size_t event_count = sizeof events / sizeof *events;

#endif
