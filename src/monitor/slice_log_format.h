/* What a slice log holds on disk; shared by its writer and its reader. It is a file of blocks (block_file.h) with
 * records as block_records.h describes them.
 *
 * Values before are, of slices, those of the last one of the same group, idle ones being a group; no other records have
 * fields that are told by their difference. Numbers of groups, events and contexts are not written, as they are
 * announced in order. */
#ifndef CYCLESCOPE_MONITOR_SLICE_LOG_FORMAT_H
#define CYCLESCOPE_MONITOR_SLICE_LOG_FORMAT_H

#include "monitor/block_records.h"
#include "monitor/slice_log.h"

#define SLICE_LOG_MAGIC "\211SLICES\n"

enum {
    SLICE_LOG_VERSION = 1,
    SLICE_LOG_GROUPS_MOST = 1024,
    SLICE_LOG_EVENTS_MOST = 4096,
    SLICE_LOG_CONTEXTS_MOST = 4096
};

/* What records refer to. */
struct slice_log_state {
    bool planned, begun;                      /* the plan was announced; a slice was */
    uint32_t slots;                           /* of the plan */
    uint64_t shares;                          /* of its groups so far, in all */
    uint32_t groups, events, contexts;        /* announced so far */
    uint32_t missing;                         /* events that groups still lack */
    uint32_t counts[SLICE_LOG_GROUPS_MOST];   /* events of a group */
    uint32_t places[SLICE_LOG_GROUPS_MOST];   /* those announced: a bit for each */
    uint32_t counters[SLICE_LOG_GROUPS_MOST]; /* counters that these have, and the clock: a bit for each */
    uint32_t round[SLICE_LOG_CONTEXTS_MOST];  /* of the last slice */
    bool ended[SLICE_LOG_CONTEXTS_MOST];      /* its exit was told */
};

extern const struct record_format slice_log_format; /* its state is a struct slice_log_state */

#endif
