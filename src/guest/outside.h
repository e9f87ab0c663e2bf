/* Classifies descriptors: can a process outside of the run make the descriptor ready?
 *
 * While a thread waits for an outside descriptor, the host's clock paces guest time. If all threads wait for inside
 * descriptors only, guest time can jump to the next deadline, because no event can come earlier.
 *
 * Inside are pipes, socket pairs and eventfds that the guest has made, and epoll descriptors that watch only those.
 * Every other descriptor counts as outside. */
#ifndef CYCLESCOPE_GUEST_OUTSIDE_H
#define CYCLESCOPE_GUEST_OUTSIDE_H

#include <stdbool.h>
#include <sys/stat.h>

enum { INHERITED_MAX = 64 }; /* limit of recorded descriptors; further ones are taken for the guest's own */

/* Pipes and sockets that the caller of cyclescope left open. The guest could have made such files itself, so they must
 * be recorded to be recognized later. */
struct inherited_files {
    unsigned count;
    struct {
        int fd;
        dev_t dev;
        ino_t inode;
    } files[INHERITED_MAX];
};

void inherited_note(struct inherited_files *inherited); /* records them; call before the guest opens a file */
/* Returns the descriptor at which the caller passed this file, or -1 if the caller did not. If the caller passed the
 * file at several descriptors, `fd` is preferred. */
int inherited_number(const struct inherited_files *inherited, int fd, const struct stat *file);
bool fd_is_outside(const struct inherited_files *inherited, int fd);

#endif
