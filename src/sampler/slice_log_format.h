/* The format of a slice log on disk, shared by its writer and its reader: a file of blocks (block_file.h) with records
 * as described in block_records.h.
 *
 * A slice stores round, cycles, instructions and counts as differences to the last slice of the same group in the
 * block; idle slices count as a group. No other kind of record stores differences. The numbers of groups, events and
 * contexts are not stored, since their records are in the order of these numbers. */
#ifndef CYCLESCOPE_SAMPLER_SLICE_LOG_FORMAT_H
#define CYCLESCOPE_SAMPLER_SLICE_LOG_FORMAT_H

#include "base/block_records.h"
#include "sampler/slice_log.h"

#define SLICE_LOG_MAGIC "\211SLICES\n"

enum {
    SLICE_LOG_VERSION = 2,
    /* Most groups, events and contexts that a reader accepts. */
    SLICE_LOG_GROUPS_MOST = 1024,
    SLICE_LOG_EVENTS_MOST = 4096,
    SLICE_LOG_CONTEXTS_MOST = 4096
};

/* What the records so far have announced; later records are checked against this. */
struct slice_log_state {
    bool planned;                             /* there was a plan */
    bool begun;                               /* there was a slice */
    uint32_t slots;                           /* slots of a round, from the plan */
    uint64_t shares;                          /* sum of the groups' shares so far */
    uint32_t groups, events, contexts;        /* records of each so far */
    uint32_t missing;                         /* events that groups have room for and that have had no record */
    uint32_t counts[SLICE_LOG_GROUPS_MOST];   /* by group: number of its events */
    uint32_t places[SLICE_LOG_GROUPS_MOST];   /* by group: bit mask of places that have an event */
    uint32_t counters[SLICE_LOG_GROUPS_MOST]; /* by group: bit mask of counters in use, that of the clock included */
    uint32_t round[SLICE_LOG_CONTEXTS_MOST];  /* by context: round of the last slice */
    bool ended[SLICE_LOG_CONTEXTS_MOST];      /* by context: there was an exit */
};

extern const struct record_format slice_log_format; /* `state` is a struct slice_log_state */

#endif
