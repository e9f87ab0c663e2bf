/* What a profile holds on disk; shared by its writer and its reader. It is a file of blocks (block_file.h) with records
 * as block_records.h describes them.
 *
 * Values before are, of samples and pairs, those of the last one of the same event; of chains, those of the last chain.
 * Numbers of events and chains are not written, as they are announced in order. */
#ifndef CYCLESCOPE_MONITOR_PROFILE_FORMAT_H
#define CYCLESCOPE_MONITOR_PROFILE_FORMAT_H

#include "monitor/block_records.h"
#include "monitor/profile_file.h"

#define PROFILE_MAGIC "\211CYCLES\n"

enum {
    PROFILE_VERSION = 1,
    PROFILE_EVENTS_MOST = 4096,
    PROFILE_OUTCOME_MOST = 0xffff /* as many bits as `events` of struct insn_view has */
};

/* What records refer to. */
struct profile_state {
    uint32_t events, chains; /* announced so far */
    bool pairable;           /* the last sample has no second yet */
};

extern const struct record_format profile_format; /* its state is a struct profile_state */

#endif
