/* The entries of a folder that the guest reads by getdents64, sorted by name (sys_listing.c). */
#ifndef CYCLESCOPE_GUEST_LISTING_H
#define CYCLESCOPE_GUEST_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entry {
    char *name;         /* owned by the listing */
    uint64_t inode;     /* the guest's number */
    uint64_t dev;       /* while the folder is read: device of the host's file, and `inode` is the host's; 0: neither */
    size_t sequence;    /* order in which the entry was added; of two entries with one name the first is kept */
    unsigned char type; /* DT_ value */
};

struct listing {
    struct entry *entries;
    size_t count;    /* number of entries */
    size_t room;     /* number of entries allocated */
    uint64_t dev;    /* of entries that are added */
    size_t position; /* index of the next entry that the guest reads */
    bool stale;      /* the guest has rewound the folder: read it again before the next entry */
    bool failed;     /* the host was out of memory; entries are missing */
};

/* Appends an entry with a copy of `name`. Sets `failed` if the host is out of memory. */
void listing_add(struct listing *l, const char *name, uint64_t inode, unsigned char type);

#endif
