/* The guest's files: which host file a guest path names, and what the guest may do with it.
 *
 * Descriptors. A guest descriptor is the host descriptor with the same number. The emulator's own (private) descriptors
 * have numbers from FD_PRIVATE up. The guest's RLIMIT_NOFILE is at most FD_PRIVATE, so the guest cannot use, close or
 * replace private descriptors.
 *
 * Paths without a sysroot: guest paths are host paths.
 *
 * Paths with a sysroot, not isolated: an absolute path, and the target of an absolute symbolic link in the sysroot, is
 * looked up in the sysroot first. If the sysroot does not contain the file, the host's file is used. A path relative to
 * a folder of the host is resolved by the host. A new file is created in the host's folder of that name if it exists
 * and is not one of the system, else in the sysroot's folder. Changes of the sysroot go to an overlay (overlay.h).
 * /proc, /dev and /sys are always the host's. A folder that exists in both places lists only the sysroot's entries.
 *
 * Isolation: the guest can reach the sysroot and the binds and nothing else, not by `..`, symbolic links, /proc or
 * inherited directory descriptors. Every path is walked component by component on descriptors; links are read by the
 * emulator and never followed by the host; each system call acts on the descriptor at which the walk ended. Descriptors
 * from 3 to FD_PRIVATE - 1 that the caller left open are closed. Changes to a read-only bind fail with EROFS. /dev/shm
 * is an empty folder of the run's own (shm_folder.h), unless a bind is there.
 *
 * Without isolation the folder in which the run starts is START_FOLDER to the guest, unless it lies in the sysroot.
 *
 * In all cases, /proc/self, /proc/cpuinfo and similar files describe the guest (special.c), and /dev/urandom returns
 * bytes of the seeded generator. Folders are listed in the order of names, whatever order the host's file system has.
 *
 * What stat shows of a file is in file_view.h. Reading does not update the access time of files that the caller owns.
 * The host must have /proc. */
#ifndef CYCLESCOPE_GUEST_FILES_H
#define CYCLESCOPE_GUEST_FILES_H

#include <limits.h>

#include "guest/process.h"

enum { FD_PRIVATE = 1000 }; /* lowest number of the emulator's own descriptors */

/* Raises the limit on descriptors of this process as far as it goes, for outputs and copies of the process. The guest
 * has a limit of its own. */
void files_raise_host_limit(void);

struct files;

/* If isolated, closes descriptors 3 to FD_PRIVATE - 1: the emulator's own must already be private. NULL with a message
 * in `err` if it fails. */
struct files *files_new(const struct process_config *config, struct error *err) MUST_CHECK;
void files_free(struct files *f);
void files_attach(struct files *f, struct process *p); /* sets the process that /proc/self and /dev/urandom refer to */

/* Opens a guest path, relative to the guest's working folder, for reading (programs, interpreters). Returns a private
 * descriptor or a negative errno. `real`, if not NULL, receives the guest's absolute path without links. */
int files_open_private(struct files *f, const char *guest_path, char real[PATH_MAX]) MUST_CHECK;
/* Moves `fd` to a number from FD_PRIVATE up, close-on-exec. `fd` is closed in any case. Returns the new descriptor or a
 * negative errno. */
int files_make_private(int fd) MUST_CHECK;
/* Makes a pipe with two private descriptors. 0, or -1 with errno. */
int files_private_pipe(int ends[2]) MUST_CHECK;
void files_close_on_exec(struct files *f); /* closes the guest's close-on-exec descriptors, for execve */

static inline bool files_is_guest(int fd) /* `fd` is a number that the guest may use; it need not be open */
{
    return fd >= 0 && fd < FD_PRIVATE;
}
/* The guest may make descriptors below this number: its RLIMIT_NOFILE. */
int files_limit(const struct files *f);
/* For calls that have an effect besides their descriptor: 0, or -EMFILE if all numbers that the guest may use are
 * taken.
 */
int files_check_room(const struct files *f) MUST_CHECK;
/* Makes a new host descriptor the guest's: returns `fd`, or closes it and returns -EMFILE if its number is too high. */
int files_adopt(const struct files *f, int fd) MUST_CHECK;
/* Writes the guest path of an open descriptor; a file in the start folder has the host's. 0 or a negative errno. */
int files_path(const struct files *f, int fd, char path[PATH_MAX]) MUST_CHECK;
/* Changes such a path to what the guest is shown: the start folder's becomes START_FOLDER. */
void files_show(const struct files *f, char path[PATH_MAX]);

#endif
