/* What system calls do differently in a shadow. */
#ifndef CYCLESCOPE_GUEST_SHADOW_PRIV_H
#define CYCLESCOPE_GUEST_SHADOW_PRIV_H

#include "guest/process_priv.h"

enum { SHADOW_NAMES = 64 };

struct shadow {
    uint64_t borrowed[(FD_PRIVATE + 63) / 64]; /* descriptors whose other half is the run's: bits by number */
    char spoiled[160];                         /* why it ended, or empty */
    uint64_t made[SHADOW_NAMES];               /* names of files that it believes to have made, as hashes; 0: free */
};

/* The function that a shadow uses instead of `usual`, mostly itself. */
syscall_fn *shadow_call(uint64_t number, syscall_fn *usual);

/* ---- shadow_pipes.c: what the guest has made for itself is made again. False if it cannot be, or is something else.
 */
struct stat;
bool shadow_pipe(int fd, const struct stat *st); /* with all other descriptors of the pipe */
bool shadow_eventfd(int fd);
bool shadow_epoll(int fd);

/* openat for writing: a copy. A descriptor or a negative errno. */
int shadow_openat(struct shadow *s, int dir, const char *name, int flags) MUST_CHECK;

/* A descriptor for a copy of the open file that the caller may write to; its offset is 0. */
int shadow_copy(int fd, bool content) MUST_CHECK;

#endif
