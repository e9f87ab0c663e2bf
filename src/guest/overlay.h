/* The overlay: what the guest changes in the sysroot lies in a scratch folder, and the sysroot stays as it is.
 *
 * The sysroot is the lower layer. The upper layer is a folder that all processes of the run share. It is made at the
 * first change and removed at the end of the run. A path is found in the upper layer first:
 *
 *     a file or link there         hides the lower one
 *     a folder there               is merged with the lower folder of the same path
 *     a mark that says `removed`   hides the lower file or folder
 *
 * Before a file is changed it is copied up with its folders (overlay_lift). Every name in the upper layer was made by
 * the guest or by a copy, and all paths are walked without following links, so the layer leads nowhere else.
 *
 * Covered are paths of the sysroot that are in no bind and not in the folder that the run was started in, if that lies
 * in the sysroot: there, programs write their results. Without a sysroot, or with process_config.write_sysroot, nothing
 * is.
 *
 * Limits, as in Linux's overlay file system: a descriptor or mapping that was opened for reading before the file was
 * first changed does not see the change, and a copied file is no longer linked to its other names in the sysroot. */
#ifndef CYCLESCOPE_GUEST_OVERLAY_H
#define CYCLESCOPE_GUEST_OVERLAY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

struct files;
struct process;
struct target;

enum upper { UPPER_NONE, UPPER_FOUND, UPPER_REMOVED };

bool overlay_covers(const struct files *f, const char *path);      /* `path` is a guest path without links */
bool overlay_has_results(const struct files *f, const char *path); /* in the start folder, which is in the sysroot */
/* Descriptor of the upper layer; -1: there is none yet. */
int overlay_upper(struct files *f);
/* Finds a name in a folder of the upper layer. `st` is set if it is found. */
enum upper overlay_find(int folder, const char *name, struct stat *st);
/* Open a folder by its guest path in the upper or lower layer. A private O_PATH descriptor or a negative errno. */
int overlay_open_upper(struct files *f, const char *path) MUST_CHECK;
int overlay_open_lower(const struct files *f, const char *path) MUST_CHECK;
bool overlay_exists_below(const struct files *f, const char *path); /* the lower layer has the file */

/* Make a covered target one of the upper layer before the call that changes it; other targets stay. 0 or a negative
 * errno. overlay_lift copies the file, without its contents if `empty`. overlay_place is for a name that does not
 * exist. */
int overlay_lift(struct files *f, struct target *target, bool empty) MUST_CHECK;
int overlay_place(struct files *f, struct target *target) MUST_CHECK;
/* After a name was made at a placed target, or was not: keeps hidden what was removed before. */
void overlay_made(struct files *f, const struct target *target);
/* fchmod and its like on a descriptor of the lower layer: replaces it by one of the copied file. */
int overlay_lift_descriptor(struct files *f, int fd) MUST_CHECK;

/* unlinkat and renameat2 on covered targets. 0 or a negative errno. */
int overlay_unlink(struct files *f, struct target *target, int flags) MUST_CHECK;
int overlay_rename(struct files *f, struct target *from, struct target *to, unsigned flags) MUST_CHECK;
/* Whether the guest may write to a covered file, by its mode. 0 or -EACCES. */
int overlay_may_write(const struct files *f, const struct stat *st) MUST_CHECK;

/* Calls `add` for the entries of a folder in the upper layer; `removed` for marks. 0 or a negative errno. */
typedef void overlay_add_fn(void *context, const char *name, uint64_t inode, unsigned char type, bool removed);
int overlay_list(struct files *f, const char *path, overlay_add_fn *add, void *context) MUST_CHECK;

/* overlay_scratch.c */
int overlay_make(struct files *f) MUST_CHECK; /* makes the upper layer if there is none. 0 or a negative errno */
void overlay_join(struct files *f);           /* opens the upper layer if another process has made it */
/* Removes the upper layer if this was the last process that uses it. */
void overlay_end(struct process *p);
/* Makes an empty folder for temporary files and writes its path. 0 or a negative errno. */
int scratch_folder(char path[PATH_MAX]) MUST_CHECK;

#endif
