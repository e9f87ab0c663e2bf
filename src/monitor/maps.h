/* The mappings of a guest, written to a profile when something first refers to them, and again when they have changed.
 */
#ifndef CYCLESCOPE_MONITOR_MAPS_H
#define CYCLESCOPE_MONITOR_MAPS_H

#include "guest/memory.h"
#include "monitor/profile_file.h"

struct maps {
    const struct guest_memory *memory;
    struct profile_writer *to;
    uint64_t losses; /* of the memory, when it was last looked at, plus 1 */
    struct known_map {
        uint64_t start, end, offset;
        const char *name; /* compared with what is mapped there now; owned */
    } * known;            /* in order of address */
    size_t count, room;
    bool lost; /* there was no memory to keep one */
};

void maps_begin(struct maps *m, const struct guest_memory *memory, struct profile_writer *to);
void maps_end(struct maps *m);

/* An address is about to be mentioned. */
void maps_mention(struct maps *m, uint64_t address);

#endif
