/* /dev/shm of an isolated run: an empty folder of the host that only this run can reach, and that ends with its first
 * process. shm_open and sem_open of the C library, and all that build on them, need it.
 *
 * Limits: processes that outlive the first one keep what they have open and mapped, but find no names any more. A run
 * that is killed by SIGKILL leaves the folder behind. */
#ifndef CYCLESCOPE_GUEST_SHM_FOLDER_H
#define CYCLESCOPE_GUEST_SHM_FOLDER_H

#include "base/error.h"

#define SHM_FOLDER "/dev/shm" /* guest path */

struct shm_folder;

/* Makes a folder. NULL with a message in `err` if it fails. `*fd` receives a private O_PATH descriptor of it. */
struct shm_folder *shm_folder_new(int *fd, struct error *err) MUST_CHECK;
/* Removes the folder with all its files, if this is the process that made it. */
void shm_folder_remove(struct shm_folder *folder);
void shm_folder_free(struct shm_folder *folder); /* also removes it; NULL: none */

#endif
