/* The table of mappings of a guest address space, as /proc/self/maps shows it.
 *
 * Invariants: areas are page-aligned, not empty, sorted by address and disjoint. Adjacent areas with the same
 * attributes are merged into one if they are consecutive parts of one object. Each shared anonymous mapping is an
 * object of its own. */
#ifndef CYCLESCOPE_GUEST_AREAS_H
#define CYCLESCOPE_GUEST_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct guest_area {
    uint64_t start, end; /* guest addresses [start, end), page-aligned */
    int prot;            /* PROT_READ | PROT_WRITE | PROT_EXEC */
    int flags;           /* MAP_SHARED or MAP_PRIVATE */
    bool charged;        /* counts against the limit of memory: the host may keep pages for the guest; see memory.c */
    bool detached;       /* a copied process has replaced the pages by private anonymous ones (process_copy.c) */
    uint64_t object;     /* number of the shared anonymous object; 0: a file or private anonymous memory */
    uint64_t offset;     /* byte offset of `start` in the mapped file or shared anonymous object */
    char *name;          /* what /proc/self/maps shows: a path, "[heap]", "[stack]", or NULL; owned by the area */
    dev_t dev;           /* device of the mapped file; 0 for an anonymous mapping */
    ino_t inode;         /* inode of the mapped file; 0 for an anonymous mapping */
};

static inline bool area_has_offset(const struct guest_area *a) /* false: private anonymous memory */
{
    return a->inode != 0 || a->object != 0;
}

static inline bool area_has_file(const struct guest_area *a) /* on the host; false: private anonymous pages */
{
    return area_has_offset(a) && !a->detached;
}

struct areas {
    struct guest_area *area;
    size_t count, capacity;
};

bool areas_init(struct areas *table); /* false if the host is out of memory */
void areas_free(struct areas *table);

/* Returns the index of the lowest area that ends above `addr`, or `table->count` if no area does. */
size_t areas_first_above(const struct areas *table, uint64_t addr);
bool areas_are_free(const struct areas *table, uint64_t start, uint64_t end); /* no page of [start, end) is mapped */
/* Returns whether every page of [start, end) is mapped and has at least the `prot` bits. */
bool areas_have(const struct areas *table, uint64_t start, uint64_t end, int prot);

/* Adds a copy of `*area`; the table owns the name from now on. Removes other mappings of the same pages first. */
void areas_add(struct areas *table, const struct guest_area *area);
void areas_remove(struct areas *table, uint64_t start, uint64_t end);
void areas_protect(struct areas *table, uint64_t start, uint64_t end, int prot);
void areas_charge(struct areas *table, uint64_t start, uint64_t end, bool charged); /* sets `charged` */

#endif
