/* System V shared memory: a segment that a child shares, its key, its status and its end. */
#include <errno.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(void)
{
    struct shmid_ds status_of;
    int status = -1, key = 0x5e600000 + getpid();
    CHECK(shmget(key, 100, 0) == -1 && errno == ENOENT);
    int id = shmget(key, 5000, IPC_CREAT | IPC_EXCL | 0600);
    CHECK(id >= 0);
    CHECK(shmget(key, 5000, IPC_CREAT | IPC_EXCL | 0600) == -1 && errno == EEXIST);
    CHECK(shmget(key, 5000, 0) == id && shmget(key, 9000, 0) == -1 && errno == EINVAL);
    volatile int *at = shmat(id, NULL, 0);
    CHECK(at != (void *)-1 && at[0] == 0 && at[1249] == 0);
    CHECK(shmctl(id, IPC_STAT, &status_of) == 0 && status_of.shm_nattch == 1 && status_of.shm_segsz == 5000);
    CHECK((status_of.shm_perm.mode & 0777) == 0600);
    at[0] = 41;
    pid_t child = fork();
    if (child == 0) {
        volatile int *again = shmat(id, NULL, 0);
        again[0]++;
        _exit(at[0] == 42 && shmdt((void *)again) == 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0 && at[0] == 42);
    const volatile int *readonly = shmat(id, NULL, SHM_RDONLY);
    CHECK(readonly != (void *)-1 && readonly != at && readonly[0] == 42);
    CHECK(shmdt((const void *)readonly) == 0 && shmdt((const void *)readonly) == -1 && errno == EINVAL);
    /* A removed segment lives as long as it is attached, but has no key any more. */
    CHECK(shmctl(id, IPC_RMID, NULL) == 0 && at[0] == 42);
    CHECK(shmget(key, 5000, 0) == -1 && errno == ENOENT);
    CHECK(shmdt((void *)at) == 0);
    CHECK(shmctl(id, IPC_STAT, &status_of) == -1 && errno == EINVAL);
    CHECK(shmat(id, NULL, 0) == (void *)-1 && errno == EINVAL);
    return check_result();
}
