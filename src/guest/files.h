/* The guest's view of files: which host file a guest path names, and what the guest may do with it.
 *
 * Guest descriptors are host descriptors with the same number, except those that the emulator keeps for itself, which
 * lie at FD_PRIVATE and above: guest RLIMIT_NOFILE ends there and the guest can neither use, close nor duplicate onto
 * them.
 *
 * Paths. Without a sysroot guest paths are host paths. With one, an absolute path (and each absolute symbolic link met
 * in the sysroot) is looked up in the sysroot first and, unless isolated, falls back to the host's when nothing is
 * there. A path relative to a folder of the host stays with the host. A new file goes into the host's folder of that
 * name if there is one, else into the sysroot's, so that a sysroot that programs run from is not written to by
 * accident; /proc, /dev and /sys are always the host's. A folder that exists in both lists only the sysroot's entries.
 *
 * Isolated, nothing but the sysroot and the binds can be reached, whatever `..`, symbolic links, /proc or inherited
 * directory descriptors say: every path is walked component by component on descriptors, links are read and never
 * followed by the host, and each call acts on the descriptor that the walk ended at. Descriptors from 3 to FD_PRIVATE
 * that the caller left open are closed. Binds that are read-only give EROFS.
 *
 * In all cases /proc/self, /proc/cpuinfo and their like describe the guest (special.c), and /dev/urandom gives bytes of
 * the seed. Folders are listed in the order of their names, whatever the host's file system does.
 *
 * Limits: inode numbers, times and owners are the host's, except that reading does not set access times where that can
 * be avoided (one's own files) and that a link's access time is its modification time. The host must have /proc. */
#ifndef CYCLESCOPE_GUEST_FILES_H
#define CYCLESCOPE_GUEST_FILES_H

#include <limits.h>

#include "guest/process.h"

enum { FD_PRIVATE = 1000 };

struct files;

/* When isolated this closes 3 to FD_PRIVATE - 1: the emulator's own must be above by then. */
struct files *files_new(const struct process_config *config, struct error *err) MUST_CHECK;
void files_free(struct files *f);
void files_attach(struct files *f, struct process *p); /* whose /proc/self and whose random bytes these are */

/* Opens a guest path from the guest's working folder for reading (programs, interpreters); a host descriptor moved
 * to FD_PRIVATE or above, or a negative errno. `real` receives the guest's absolute path without links, if not NULL. */
int files_open_private(struct files *f, const char *guest_path, char real[PATH_MAX]) MUST_CHECK;
/* Moves a descriptor of the emulator to FD_PRIVATE or above, close-on-exec; the new one, or a negative errno. */
int files_make_private(int fd) MUST_CHECK;
void files_close_on_exec(struct files *f); /* what execve does to descriptors */

static inline bool files_is_guest(int fd) /* whether the guest may use this number at all; it may still be closed */
{
    return fd >= 0 && fd < FD_PRIVATE;
}
/* A descriptor that the host has just made becomes the guest's; -EMFILE and closed if its number is too high. */
int files_adopt(int fd) MUST_CHECK;
/* The guest's name of an open descriptor, as /proc/self/fd and /proc/self/maps show it. 0 or a negative errno. */
int files_path(const struct files *f, int fd, char path[PATH_MAX]) MUST_CHECK;

#endif
