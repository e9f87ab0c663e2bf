/* Whether somebody outside of the run can make a descriptor ready. While one waits for such a descriptor, guest time
 * keeps pace with the host's; otherwise it can jump to the next deadline, since nothing can happen before.
 *
 * Inside are pipes, pairs of sockets and event descriptors that the guest has made, and what epoll finds among them.
 * When in doubt a descriptor is outside. */
#ifndef CYCLESCOPE_GUEST_OUTSIDE_H
#define CYCLESCOPE_GUEST_OUTSIDE_H

#include <stdbool.h>
#include <sys/stat.h>

enum { INHERITED_MAX = 64 }; /* descriptors; more are taken for the guest's own */

/* What the caller left open and is of a kind that the guest could have made itself. */
struct inherited_files {
    unsigned count;
    struct {
        int fd;
        dev_t dev;
        ino_t inode;
    } files[INHERITED_MAX];
};

void inherited_note(struct inherited_files *inherited); /* at the start, before the guest opens anything */
/* The number that the caller had the file at, `fd` if it was among several; or -1. */
int inherited_number(const struct inherited_files *inherited, int fd, const struct stat *file);
bool fd_is_outside(const struct inherited_files *inherited, int fd);

#endif
