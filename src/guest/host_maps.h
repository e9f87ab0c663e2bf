/* Reads /proc/self/maps line by line without allocating memory: the reader must work while a hole is open in the
 * guest's region, into which the host would put an allocation. Lines come in ascending order of addresses; changes that
 * the caller makes to addresses that it has passed do not disturb the reader. */
#ifndef CYCLESCOPE_GUEST_HOST_MAPS_H
#define CYCLESCOPE_GUEST_HOST_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line: a mapping of this process. */
struct host_map {
    uint64_t start, end; /* host addresses [start, end) */
    int prot;            /* PROT_READ | PROT_WRITE | PROT_EXEC */
    bool shared;         /* MAP_SHARED */
    bool of_file;        /* maps a file or a shared anonymous object; false: private anonymous memory */
    uint64_t offset;     /* byte offset in the file or object */
};

struct host_maps {
    int fd;            /* /proc/self/maps */
    size_t used, next; /* bytes in `buffer`; next byte */
    char buffer[4096];
};

bool host_maps_open(struct host_maps *maps);                       /* false if the file cannot be opened */
bool host_maps_next(struct host_maps *maps, struct host_map *out); /* false at the end, or if reading fails */
void host_maps_close(struct host_maps *maps);

#endif
