/* The mappings of an address space as a table: what /proc/self/maps shows.
 *
 * Invariants: areas are sorted and disjoint, not empty and page-aligned; neighbours that could be one are one. */
#ifndef CYCLESCOPE_GUEST_AREAS_H
#define CYCLESCOPE_GUEST_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct guest_area {
    uint64_t start, end; /* page-aligned, half open */
    int prot;            /* PROT_READ | PROT_WRITE | PROT_EXEC */
    int flags;           /* MAP_SHARED or MAP_PRIVATE */
    uint64_t offset;     /* into the file */
    char *name;          /* path, "[heap]", "[stack]" or NULL */
    dev_t dev;           /* of the file, else 0 */
    ino_t inode;
};

struct areas {
    struct guest_area *area;
    size_t count, capacity;
};

bool areas_init(struct areas *table); /* false if there is no memory */
void areas_free(struct areas *table);

size_t areas_first_above(const struct areas *table, uint64_t addr); /* index of the lowest that ends above addr */
bool areas_are_free(const struct areas *table, uint64_t start, uint64_t end);
/* Whether every page of [start, end) is mapped with at least `prot`. */
bool areas_have(const struct areas *table, uint64_t start, uint64_t end, int prot);

void areas_add(struct areas *table, const struct guest_area *area); /* takes its name; replaces what was there */
void areas_remove(struct areas *table, uint64_t start, uint64_t end);
void areas_protect(struct areas *table, uint64_t start, uint64_t end, int prot);

#endif
