/* System V shared memory: the segments that a process knows, and where it has attached them.
 *
 * A segment is a private memfd of the emulator. A process knows those that it has made and those that its ancestors had
 * made when it was forked, which is how PostgreSQL and most others share them. Nothing is visible to the host's System
 * V IPC, and nothing stays behind.
 *
 * Limits: a process does not know segments that another process made after the fork, also not by their key. */
#ifndef CYCLESCOPE_GUEST_SHARED_SEGMENTS_H
#define CYCLESCOPE_GUEST_SHARED_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { SEGMENTS_MAX = 64, ATTACHMENTS_MAX = 64 };

struct segment {
    int id;        /* 0: unused */
    int key;       /* as given to shmget; 0 (IPC_PRIVATE): none */
    int fd;        /* private descriptor of the memfd */
    uint64_t size; /* as given to shmget */
    int mode;      /* permission bits */
    bool removed;  /* IPC_RMID was called: ends with its last attachment */
};

struct attachment {
    uint64_t addr, end; /* guest addresses; 0: unused */
    int id;             /* of the segment */
};

struct shared_segments {
    int last_id;
    struct segment segment[SEGMENTS_MAX];
    struct attachment attachment[ATTACHMENTS_MAX];
};

struct process;
void segments_detach_all(struct process *p); /* for execve, which unmaps everything */

#endif
