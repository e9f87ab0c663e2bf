/* Declarations shared by the source files of the overlay. */
#ifndef CYCLESCOPE_GUEST_OVERLAY_PRIV_H
#define CYCLESCOPE_GUEST_OVERLAY_PRIV_H

#include "guest/overlay.h"

/* Opens a guest path below a layer without following links. A private descriptor or a negative errno. */
int layer_open(int layer, const char *path, int flags) MUST_CHECK;
/* Splits a guest path: writes its folder and returns its last name, which points into `path`. */
const char *path_split(const char *path, char folder[PATH_MAX]);
/* Makes the folder of `path` in the upper layer. A private O_PATH descriptor of it or a negative errno. */
int layer_make_parent(struct files *f, const char *path) MUST_CHECK;
/* Copies a file to the upper layer if it is not there yet; of a folder, only the folder. 0 or a negative errno. */
int layer_copy_up(struct files *f, const char *path, bool empty) MUST_CHECK;
/* Marks a path as removed if the lower layer has it. 0 or a negative errno. */
int layer_mark_removed(struct files *f, const char *path) MUST_CHECK;
/* Marks all that the lower layer has below a folder and the upper layer has not as removed. 0 or a negative errno. */
int layer_hide(struct files *f, const char *folder) MUST_CHECK;

#endif
