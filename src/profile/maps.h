/* Recording: writes the mappings of a guest to a profile when a sample first refers to them, and again after they have
 * changed. */
#ifndef CYCLESCOPE_PROFILE_MAPS_H
#define CYCLESCOPE_PROFILE_MAPS_H

#include "guest/memory.h"
#include "profile/profile_file.h"

struct maps {
    const struct guest_memory *memory;
    struct profile_writer *to;
    uint64_t epoch; /* guest_permission_epoch + 1 when `known` was brought up to date; 0: never */
    struct known_map {
        uint64_t start, end, offset;
        const char *name; /* owned; NULL: the mapping has no name */
    } * known;            /* written mappings, in order of address */
    size_t count, room;
    bool lost; /* memory for `known` ran out */
};

void maps_begin(struct maps *m, const struct guest_memory *memory, struct profile_writer *to);
void maps_end(struct maps *m);

/* Call it before a record that contains this address: writes the mappings that are new or have changed. */
void maps_mention(struct maps *m, uint64_t address);

#endif
