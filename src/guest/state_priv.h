/* The parts of a process's state, one source file each. Each function saves or loads, depending on its `struct fields`,
 * and returns 0, or a negative errno with a message in `err`. Errors of the fields themselves stay recorded in the
 * fields and need not be returned. */
#ifndef CYCLESCOPE_GUEST_STATE_PRIV_H
#define CYCLESCOPE_GUEST_STATE_PRIV_H

#include "guest/files_priv.h"
#include "guest/state.h"

/* Whether `ns` is a valid time of the guest's clock, see time_convert.h. */
static inline bool time_is_possible(uint64_t ns)
{
    return ns <= INT64_MAX || ns == NEVER;
}

int state_threads(struct process *p, struct fields *f, struct error *err) MUST_CHECK;
int state_overlay(struct process *p, struct fields *f, struct error *err) MUST_CHECK; /* changes of the sysroot */
void state_views(struct process *p, struct fields *f); /* what the guest has seen of files */
void state_view(struct process *p, struct fields *f,
                const struct stat *st); /* of one file, whose host inode will change */
int state_memory(struct process *p, struct fields *f, struct error *err) MUST_CHECK;
int state_files(struct process *p, struct fields *f, struct error *err) MUST_CHECK;
void state_queue(struct fields *f, struct signal_queue *queue); /* pending signals (state_threads.c) */
void state_listing(struct fields *f, struct listing **l);       /* entries of a folder; `*l` may be NULL: none */

/* ---- state_place.c: files by name */

enum { PLACE_UPPER = -2 };

/* Path and version of a file. The path is relative to a mount, so that the file is found if the sysroot has moved. */
struct place {
    int mount;            /* index of the mount that `path` is relative to; -1: `path` is an absolute host path;
                             PLACE_UPPER: it is relative to the upper layer of the sysroot (overlay.h) */
    char path[PATH_MAX];  /* path without links */
    uint32_t type;        /* S_IFMT bits of the mode */
    uint64_t bytes;       /* size of a plain file; 0 for other types */
    int64_t seconds;      /* modification time of a plain file; 0 for other types */
    uint32_t nanoseconds; /* fraction of the modification time */
};

/* Finds the place of an open file. `what` names the file in error messages. 0 or a negative errno. */
int place_find(const struct files *f, int fd, const char *what, struct place *place, struct error *err) MUST_CHECK;
void place_fields(struct fields *f, struct place *place);
/* Opens the file again. Returns a private descriptor, or a negative errno with a message in `err`. Fails if type, size
 * or modification time differ. */
int place_open(const struct files *f, const struct place *place, int flags, struct error *err) MUST_CHECK;

#endif
