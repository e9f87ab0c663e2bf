/* /dev/shm: shared memory and semaphores by name, as processes that were forked before they existed find them. */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char memory_name[] = "/cyclescope-memory-0123456789abcdef";
static char semaphore_name[] = "/cyclescope-semaphore-0123456789abcdef";

/* Names that no other run of this test has at the same time: each has a folder of its own. */
static void choose_names(void)
{
    struct stat here;
    CHECK(stat(".", &here) == 0);
    for (int i = 0; i < 16; i++)
        memory_name[sizeof memory_name - 2 - i] = semaphore_name[sizeof semaphore_name - 2 - i] =
            (char)('a' + (here.st_ino >> 4 * i & 15));
    shm_unlink(memory_name), sem_unlink(semaphore_name); /* of a run that was killed */
}

static int child_main(int start)
{
    char byte;
    if (read(start, &byte, 1) != 1)
        return 1;
    int fd = shm_open(memory_name, O_RDWR, 0);
    volatile int *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sem_t *semaphore = sem_open(semaphore_name, 0);
    if (memory == MAP_FAILED || semaphore == SEM_FAILED)
        return 2;
    memory[1] = memory[0] + 1;
    return sem_post(semaphore) == 0 ? 0 : 3;
}

int main(void)
{
    int status = -1, ends[2];
    struct stat st;
    choose_names();
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(close(ends[1]) == 0 ? child_main(ends[0]) : 4);
    CHECK(shm_open(memory_name, O_RDWR, 0) == -1 && errno == ENOENT);
    int fd = shm_open(memory_name, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0 && shm_open(memory_name, O_RDWR | O_CREAT | O_EXCL, 0600) == -1);
    volatile int *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sem_t *semaphore = sem_open(semaphore_name, O_CREAT | O_EXCL, 0600, 0);
    if (CHECK(memory != MAP_FAILED && semaphore != SEM_FAILED)) {
        memory[0] = 41;
        CHECK(write(ends[1], "x", 1) == 1 && sem_wait(semaphore) == 0 && memory[1] == 42);
        CHECK(sem_close(semaphore) == 0 && munmap((void *)memory, 4096) == 0);
    }
    CHECK(close(ends[1]) == 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(stat("/dev/shm", &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 01777);
    CHECK(shm_unlink(memory_name) == 0 && sem_unlink(semaphore_name) == 0);
    CHECK(shm_open(memory_name, O_RDWR, 0) == -1 && errno == ENOENT);
    return check_result();
}
