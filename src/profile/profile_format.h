/* The encoding of a profile on disk (profile_file.h), shared by its writer and its reader: a file of blocks
 * (block_file.h) with records (block_records.h).
 *
 * Fields that are written as differences refer to the previous sample or pair of the same event, or to the previous
 * chain. Numbers of events and chains are not written, since they are announced in order. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_FORMAT_H
#define CYCLESCOPE_PROFILE_PROFILE_FORMAT_H

#include "base/block_records.h"
#include "profile/profile_file.h"

#define PROFILE_MAGIC "\211CYCLES\n"

enum {
    PROFILE_VERSION = 1,
    PROFILE_EVENTS_MOST = 4096,
    PROFILE_OUTCOME_MOST = 0xffff /* largest `outcome`: as many bits as insn_view.events has */
};

/* State that records are checked against. */
struct profile_state {
    uint32_t events, chains; /* announced so far */
    bool pairable;           /* the last sample has no PROFILE_PAIR yet */
};

extern const struct record_format profile_format; /* its state is a struct profile_state */

#endif
