/* What stat shows the guest of a host file. The view depends on the file and on what the guest has done with it, not on
 * the machine, on who runs Cyclescope, or on what the standard streams are connected to.
 *
 * Inode numbers count files in the order in which the guest first sees or makes them. A table that all processes of a
 * run share keeps them, so that a file keeps its number, and its names have the same one. All files are on one device.
 *
 * Times: a file that the guest makes or changes has the guest's time. Any other plain file, folder or link shows the
 * time at which its contents were last changed, for all three times, and at most the time at which the guest's clock
 * starts, so that no file is of the future. Other files show that time. With process_config.host_time, times are the
 * host's.
 *
 * Owners: all files belong to the guest's one user, unless process_config.host_user is set. What the guest may do with
 * a file is decided by the host, with the rights of the caller.
 *
 * Limits: reading does not change the time of access. Stores to a shared mapping change the time of the file when it is
 * mapped, not at each store. Beyond VIEWS_MAX files, further ones have the host's numbers and times. */
#ifndef CYCLESCOPE_GUEST_FILE_VIEW_H
#define CYCLESCOPE_GUEST_FILE_VIEW_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

struct process;
struct target;
struct views;

enum { VIEWS_MAX = 1 << 18 }; /* files that the table has room for */

/* A file that the guest has seen. */
struct view {
    uint64_t dev, inode;                      /* of the host */
    uint64_t number;                          /* inode number for the guest */
    uint32_t changed;                         /* 1: the guest has made or changed the file, and the times are its own */
    uint32_t next;                            /* 1 + index of the next view with the same hash; 0: none */
    uint64_t access_ns, change_ns, status_ns; /* guest times, since 1970; if not changed, `change_ns` is what it saw */
};

struct views *views_new(struct error *err) MUST_CHECK; /* NULL with a message in `err` if it fails */
void views_free(struct views *v);
/* For a copied process: replaces the shared table by one of its own. 0 or a negative errno. */
int views_unshare(struct process *p, struct error *err) MUST_CHECK;

void file_view(struct process *p, struct stat *st); /* changes the status of a host file to what the guest sees */
/* The status of a standard stream of the caller: that of a pipe. `standard` is as in struct files. */
void file_view_standard(const struct process *p, int standard, struct stat *st);
uint64_t file_number(struct process *p, dev_t dev, ino_t inode); /* the guest's inode number */

/* The guest has done something with a file. `st` is the host's status. */
void file_made(struct process *p, const struct stat *st);
void file_touched(struct process *p, const struct stat *st);        /* contents or entries changed: now */
void file_status_changed(struct process *p, const struct stat *st); /* mode, owner or links changed: now */
void file_set_times(struct process *p, const struct stat *st,
                    const struct timespec times[2]); /* as utimensat; NULL: now */
void file_written(struct process *p, int fd);        /* the contents of an open guest descriptor changed: now; quick */
/* `to` is a copy of `from` that takes its place (overlay.c): it has the same number and times. */
void file_moved(struct process *p, const struct stat *from, const struct stat *to);
/* Calls for names: something was made at the target; an entry of the target's folder was made or removed. */
void target_made(struct process *p, const struct target *target);
void target_parent_changed(struct process *p, const struct target *target);

#endif
