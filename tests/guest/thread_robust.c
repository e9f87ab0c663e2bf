/* Locks whose owner dies. */
/* not for qemu: it does not walk the list of robust locks */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static _Atomic int awake;
static pthread_mutex_t mutex;

static void *lock_and_die(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *lock_then_unlock(void *unused)
{
    int result = pthread_mutex_lock(&mutex);
    CHECK(result == 0 || result == EOWNERDEAD);
    if (result == EOWNERDEAD)
        pthread_mutex_consistent(&mutex);
    awake++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void robust_and_inheriting(int protocol, int robust)
{
    pthread_mutexattr_t attr;
    pthread_t threads[3];
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, protocol);
    pthread_mutexattr_setrobust(&attr, robust);
    CHECK(pthread_mutex_init(&mutex, &attr) == 0);
    awake = 0;
    if (robust == PTHREAD_MUTEX_ROBUST) {
        pthread_create(&threads[0], NULL, lock_and_die, NULL);
        pthread_join(threads[0], NULL);
        CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
        CHECK(pthread_mutex_consistent(&mutex) == 0);
    } else {
        CHECK(pthread_mutex_lock(&mutex) == 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, lock_then_unlock, NULL);
    usleep(50000);
    CHECK(awake == 0 && pthread_mutex_trylock(&mutex) == EBUSY);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    int timed = pthread_mutex_timedlock(&mutex, &soon);
    CHECK(timed == ETIMEDOUT || timed == EDEADLK);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(awake == 3);
}

/* A lock that another process holds when it dies, and one that it waits for. */
static void between_processes(void)
{
    pthread_mutexattr_t attr;
    pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile int *number = (volatile int *)(shared + 1);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    CHECK(pthread_mutex_init(shared, &attr) == 0);
    pthread_mutex_lock(shared);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_mutex_lock(shared); /* the parent has it */
        int seen = *number;
        *number = 2;
        _exit(seen); /* while holding it */
    }
    usleep(100000);
    *number = 1;
    pthread_mutex_unlock(shared);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(pthread_mutex_lock(shared) == EOWNERDEAD && *number == 2);
}

int main(void)
{
    robust_and_inheriting(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    robust_and_inheriting(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    robust_and_inheriting(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST);
    between_processes();
    return check_result();
}
