/* What stat shows the guest of a host file. The view depends on the file and on the guest, not on who runs Cyclescope
 * or on what the standard streams are connected to.
 *
 * Owners: all files belong to the guest's one user, unless process_config.host_user is set. What the guest may do with
 * a file is decided by the host, with the rights of the caller. */
#ifndef CYCLESCOPE_GUEST_FILE_VIEW_H
#define CYCLESCOPE_GUEST_FILE_VIEW_H

#include <sys/stat.h>

struct process;

void file_view(const struct process *p, struct stat *st); /* changes the status of a host file to what the guest sees */
/* The status of a standard stream of the caller: that of a pipe. `standard` is as in struct files. */
void file_view_standard(const struct process *p, int standard, struct stat *st);

#endif
