#include "guest/host_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

bool host_maps_open(struct host_maps *maps)
{
    maps->used = maps->next = 0;
    maps->fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    return maps->fd >= 0;
}

void host_maps_close(struct host_maps *maps)
{
    close(maps->fd);
}

/* Returns the next byte, or -1 at the end. */
static int next_byte(struct host_maps *maps)
{
    if (maps->next == maps->used) {
        ssize_t got;
        do
            got = read(maps->fd, maps->buffer, sizeof maps->buffer);
        while (got < 0 && errno == EINTR);
        if (got <= 0)
            return -1;
        maps->used = (size_t)got;
        maps->next = 0;
    }
    return (unsigned char)maps->buffer[maps->next++];
}

/* Reads a hexadecimal number and the byte behind it, which is returned. */
static int read_hex(struct host_maps *maps, uint64_t *number)
{
    *number = 0;
    for (;;) {
        int c = next_byte(maps);
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return c;
        *number = *number << 4 | (unsigned)digit;
    }
}

/* A line: START-END PERMISSIONS OFFSET MAJOR:MINOR INODE [PATH]. The inode is decimal, but only its being 0 matters. */
bool host_maps_next(struct host_maps *maps, struct host_map *out)
{
    uint64_t device, inode;
    if (read_hex(maps, &out->start) != '-' || read_hex(maps, &out->end) != ' ')
        return false;
    out->prot = next_byte(maps) == 'r' ? PROT_READ : 0;
    out->prot |= next_byte(maps) == 'w' ? PROT_WRITE : 0;
    out->prot |= next_byte(maps) == 'x' ? PROT_EXEC : 0;
    out->shared = next_byte(maps) == 's';
    if (next_byte(maps) != ' ' || read_hex(maps, &out->offset) != ' ' || read_hex(maps, &device) != ':' ||
        read_hex(maps, &device) != ' ')
        return false;
    int c = read_hex(maps, &inode);
    out->of_file = inode != 0;
    while (c != '\n' && c >= 0)
        c = next_byte(maps);
    return true;
}
