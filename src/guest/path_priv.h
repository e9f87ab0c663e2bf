/* Declarations shared by the source files that look up paths: path_host.c for paths that the host resolves, and path.c
 * for paths that the emulator walks. */
#ifndef CYCLESCOPE_GUEST_PATH_PRIV_H
#define CYCLESCOPE_GUEST_PATH_PRIV_H

#include "guest/files_priv.h"

void path_target_set(struct target *out, int dir, const char *name, int at_flags);
/* Sets the target to the file that `fd` refers to: a guest descriptor, or AT_FDCWD for the working folder. */
int path_target_descriptor(const struct files *f, int fd, struct target *out) MUST_CHECK;
/* Sets the target to a special file, at guest path `path`. */
int path_target_node(struct files *f, const struct node *node, const char *path, unsigned flags,
                     struct target *out) MUST_CHECK;
/* Returns the guest path of the folder `dirfd` (or AT_FDCWD) if it is a special folder, else NULL. */
const char *path_special_folder(const struct files *f, int dirfd);
/* Leaves the path to the host, unless it lies in /proc, /dev or /sys. `links` is the number of links followed so far.
 */
int path_lookup_host(struct files *f, int dirfd, const char *path, unsigned flags, unsigned links,
                     struct target *out) MUST_CHECK;
/* Looks up an absolute path from the beginning, after a link was followed. */
int path_lookup_again(struct files *f, const char *path, unsigned flags, unsigned links, struct target *out) MUST_CHECK;

#endif
