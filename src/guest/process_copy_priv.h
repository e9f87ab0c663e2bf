/* State and system calls of a copied process (process_copy.h).
 *
 * Every guest descriptor of a copy is either its own (a file opened for reading, a memory file, a pipe that was made
 * again), or borrowed: it stands for a file that only the run itself can use. The number of a borrowed descriptor holds
 * an O_PATH descriptor, with which the host's kernel refuses to read, write, map or change anything. The original
 * descriptor has a private number (files.borrowed), which only the queries of copy_descriptors.c use. */
#ifndef CYCLESCOPE_GUEST_PROCESS_COPY_PRIV_H
#define CYCLESCOPE_GUEST_PROCESS_COPY_PRIV_H

#include <sys/types.h>

#include "guest/process_priv.h"

enum { COPY_CREATED_MAX = 64 }; /* limit of remembered file names; further ones are forgotten */
enum { COPY_DEVICES = 3 };      /* null, zero, full */

struct stat;

/* A file that a memory file replaces in the copy. */
struct replaced_file {
    dev_t dev; /* of the original */
    ino_t inode;
    dev_t memory_dev; /* of the memory file; in the copy of a copy: of the one that the first copy has */
    ino_t memory_inode;
    int memory; /* private descriptor of the memory file */
    int pin;    /* private O_PATH descriptor of the original, so that its inode number stays its own; -1: none */
};

struct process_copy {
    char spoiled[160];                  /* why the copy had to end; empty: it did not */
    uint64_t created[COPY_CREATED_MAX]; /* hashes of the names that the guest believes to have created; 0: free */
    struct replaced_file *replaced;
    size_t replaced_count, replaced_room;
    int device[COPY_DEVICES]; /* private descriptors of harmless devices, open for writing; -1: none */
    bool acted;               /* process_copy_acted */
    bool filtered;            /* copy_filter_install has succeeded */
};

/* ---- copy_calls.c */

/* Makes the system call of a copied process, as the rule of its row allows. `a` are its arguments. */
int64_t copy_syscall(struct thread *t, uint64_t number, const uint64_t a[6]);
/* End the copy, because it would act outside of itself, or needs what only the run can have. `why` is the rest of a
 * sentence after "it". copy_end returns SYSCALL_NO_RESULT, as the result of the system call. */
void copy_spoil(struct process *p, const char *why, ...) __attribute__((format(printf, 2, 3)));
int64_t copy_end(struct thread *t, int fd); /* because of a borrowed descriptor */

/* ---- copy_files.c */

/* Opens a file in the copy as openat does. A file opened for writing is a memory file with the same contents; what else
 * is not a plain file, a folder or a harmless device ends the copy. A descriptor or a negative errno. */
int copy_openat(struct process *p, int dir, const char *name, int flags) MUST_CHECK;
/* Replaces all guest descriptors by the copy's own or by borrowed ones. 0 or a negative errno. */
int copy_unshare_files(struct process *p, struct error *err) MUST_CHECK;
int copy_open_devices(struct process_copy *s, struct error *err) MUST_CHECK;
/* Finds what replaces a file, or is the memory file itself; NULL if nothing does. */
const struct replaced_file *copy_find_replaced(const struct process_copy *s, dev_t dev, ino_t inode);
/* Records a replaced file, and takes both descriptors; `pin` may be -1. NULL, with the descriptors closed, if the host
 * has no room for them. */
const struct replaced_file *copy_add_replaced(struct process_copy *s, dev_t dev, ino_t inode, int memory, int pin);
/* The guest removes a name in a folder: true if the copy has made it, so that the host may not know it. */
bool copy_forget_created(struct process_copy *s, int dir, const char *name);

/* ---- copy_memory.c */

/* Replaces all memory that is shared with files or other processes and that can be written, now or later, by memory of
 * the copy's own. 0 or a negative errno. */
int copy_unshare_memory(struct process *p, struct error *err) MUST_CHECK;

/* ---- copy_pipes.c: replace a descriptor by a new object with the same contents. Return false if `fd` is of another
 * kind or if the host refuses. copy_pipe replaces all guest descriptors of the pipe; `st` is its status. */
bool copy_pipe(int fd, const struct stat *st);
bool copy_eventfd(const struct files *f, int fd);
bool copy_epoll(int fd);

/* ---- copy_filter.c */

/* Lets the host's kernel refuse, from now on, host system calls that could act outside of this process. Returns false
 * if the kernel cannot filter. The checks of the other files do not depend on it. */
bool copy_filter_install(void);

#endif
