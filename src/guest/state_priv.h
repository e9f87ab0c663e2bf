/* The parts of a process's state, one file each. Each function writes or reads, as its fields say; 0, or a negative
 * errno and a sentence. Errors of the fields are theirs to keep and need not be returned. */
#ifndef CYCLESCOPE_GUEST_STATE_PRIV_H
#define CYCLESCOPE_GUEST_STATE_PRIV_H

#include "guest/files_priv.h"
#include "guest/state.h"

/* Times of the guest's clock; see time_convert.h for what lies further ahead. */
static inline bool time_is_possible(uint64_t ns)
{
    return ns <= INT64_MAX || ns == NEVER;
}

int state_threads(struct process *p, struct fields *f, struct error *err) MUST_CHECK;
int state_memory(struct process *p, struct fields *f, struct error *err) MUST_CHECK;
int state_files(struct process *p, struct fields *f, struct error *err) MUST_CHECK;
void state_queue(struct fields *f, struct signal_queue *queue); /* signals; with state_threads */
void state_listing(struct fields *f, struct listing **l);       /* of a folder; NULL: none; with state_files */

/* ---- state_place.c: files by name */

/* Where a file lies, so that it is found again when the sysroot is elsewhere. */
struct place {
    int mount;           /* index of the mount that `path` is relative to, or -1: the host's root */
    char path[PATH_MAX]; /* without links */
    uint32_t type;       /* S_IFMT bits of its mode */
    uint64_t bytes;      /* of a plain file: its size */
    int64_t seconds;     /* likewise, of its last change */
    uint32_t nanoseconds;
};

/* Of an open file; `what` begins the sentence if it has none. */
int place_find(const struct files *f, int fd, const char *what, struct place *place, struct error *err) MUST_CHECK;
void place_fields(struct fields *f, struct place *place);
/* A private descriptor; refuses a file that is not what it was. */
int place_open(const struct files *f, const struct place *place, int flags, struct error *err) MUST_CHECK;

#endif
