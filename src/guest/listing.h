/* A folder as the guest reads it: all its entries, in the order of their names (sys_listing.c). */
#ifndef CYCLESCOPE_GUEST_LISTING_H
#define CYCLESCOPE_GUEST_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entry {
    char *name;
    uint64_t inode;
    size_t sequence;    /* in which order it was found; of two with one name the first counts */
    unsigned char type; /* DT_ */
};

struct listing {
    struct entry *entries;
    size_t count, room;
    size_t position; /* of the next entry that the guest gets */
    bool stale;      /* the guest went back to the start: to be read again */
    bool failed;     /* memory ran out */
};

void listing_add(struct listing *l, const char *name, uint64_t inode, unsigned char type);

#endif
