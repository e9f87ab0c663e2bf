/* System V semaphores: keys, values, operations that wait, timeouts, signals, SEM_UNDO, the end of a set. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

union argument {
    int value;
    struct semid_ds *status;
    unsigned short *values;
};

static int set;

static int operate(int number, int change, int flags)
{
    struct sembuf op = {(unsigned short)number, (short)change, (short)flags};
    return semop(set, &op, 1);
}

static int value(int number)
{
    return semctl(set, number, GETVAL);
}

/* Waits until a thread waits for the semaphore (GETNCNT), or for its 0 (GETZCNT). */
static void until_waited_for(int number, int command)
{
    while (semctl(set, number, command) == 0)
        usleep(1000);
}

static int ended_with(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void test_keys(void)
{
    int key = 0x5e600000 + getpid();
    CHECK(semget(key, 3, 0) == -1 && errno == ENOENT);
    CHECK(semget(key, 0, IPC_CREAT | 0600) == -1 && errno == EINVAL);
    int id = semget(key, 3, IPC_CREAT | IPC_EXCL | 0640);
    CHECK(id >= 0 && semget(key, 3, IPC_CREAT | IPC_EXCL) == -1 && errno == EEXIST);
    CHECK(semget(key, 2, 0) == id && semget(key, 4, 0) == -1 && errno == EINVAL);
    struct semid_ds status;
    union argument arg = {.status = &status};
    CHECK(semctl(id, 0, IPC_STAT, arg) == 0 && status.sem_nsems == 3 && (status.sem_perm.mode & 0777) == 0640);
    CHECK(status.sem_perm.__key == key && status.sem_otime == 0 && status.sem_ctime > 0);
    status.sem_perm.mode = 0600;
    CHECK(semctl(id, 0, IPC_SET, arg) == 0 && semctl(id, 0, IPC_STAT, arg) == 0 && status.sem_perm.mode == 0600);
    CHECK(semctl(id, 0, IPC_RMID) == 0 && semget(key, 3, 0) == -1 && errno == ENOENT);
    CHECK(semctl(id, 0, GETVAL) == -1 && errno == EINVAL);
}

static void test_values(void)
{
    unsigned short values[4] = {1, 2, 3, 40}, got[4] = {0}, high[4] = {0, 0, 0, 32768};
    CHECK(semctl(set, 0, SETALL, (union argument){.values = values}) == 0);
    CHECK(semctl(set, 0, GETALL, (union argument){.values = got}) == 0 && memcmp(values, got, sizeof got) == 0);
    CHECK(semctl(set, 0, SETALL, (union argument){.values = high}) == -1 && errno == ERANGE && value(0) == 1);
    CHECK(semctl(set, 1, SETVAL, (union argument){.value = 7}) == 0 && value(1) == 7);
    CHECK(semctl(set, 1, GETPID) == getpid() && semctl(set, 4, GETVAL) == -1 && errno == EINVAL);
    CHECK(semctl(set, 1, SETVAL, (union argument){.value = 32768}) == -1 && errno == ERANGE);
}

/* All operations of a call are made, or none. */
static void test_operations(void)
{
    struct sembuf both[2] = {{0, -1, 0}, {1, -8, IPC_NOWAIT}};
    CHECK(semop(set, both, 2) == -1 && errno == EAGAIN && value(0) == 1 && value(1) == 7);
    both[1].sem_op = -7;
    CHECK(semop(set, both, 2) == 0 && value(0) == 0 && value(1) == 0);
    CHECK(operate(0, 0, 0) == 0 && operate(3, 0, IPC_NOWAIT) == -1 && errno == EAGAIN);
    CHECK(operate(4, 1, 0) == -1 && errno == EFBIG && operate(3, 32767, 0) == -1 && errno == ERANGE);
    CHECK(semop(set, both, 0) == -1 && errno == EINVAL && semop(-1, both, 1) == -1 && errno == EINVAL);
    struct sembuf many[501] = {{0, 1, 0}};
    CHECK(semop(set, many, 501) == -1 && errno == E2BIG && value(0) == 0);
}

static void test_processes(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(operate(0, -2, 0) == 0 && operate(1, 5, 0) == 0 ? 0 : 1);
    until_waited_for(0, GETNCNT);
    CHECK(semctl(set, 0, GETNCNT) == 1 && semctl(set, 0, GETZCNT) == 0);
    CHECK(operate(0, 1, 0) == 0 && operate(0, 1, 0) == 0 && operate(1, -5, 0) == 0);
    CHECK(ended_with(child) == 0 && value(0) == 0 && semctl(set, 0, GETPID) == child);
    CHECK(semctl(set, 0, GETNCNT) == 0);
}

static void *wait_for_zero(void *unused)
{
    (void)unused;
    return operate(3, 0, 0) == 0 ? (void *)"zero" : NULL;
}

static void test_threads(void)
{
    pthread_t thread;
    void *result = NULL;
    CHECK(value(3) == 40 && pthread_create(&thread, NULL, wait_for_zero, NULL) == 0);
    until_waited_for(3, GETZCNT);
    CHECK(operate(3, -39, 0) == 0 && semctl(set, 3, GETZCNT) == 1 && operate(3, -1, 0) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result != NULL && semctl(set, 3, GETZCNT) == 0);
}

static void ignore(int sig)
{
    (void)sig;
}

static void test_interruptions(void)
{
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    struct timespec limit = {0, 20000000}, before, after;
    struct sembuf op = {0, -1, 0};
    clock_gettime(CLOCK_MONOTONIC, &before);
    CHECK(semtimedop(set, &op, 1, &limit) == -1 && errno == EAGAIN);
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= 20000000);
    limit.tv_nsec = -1;
    CHECK(semtimedop(set, &op, 1, &limit) == -1 && errno == EINVAL);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        until_waited_for(0, GETNCNT);
        _exit(kill(parent, SIGUSR1));
    }
    CHECK(operate(0, -1, 0) == -1 && errno == EINTR && ended_with(child) == 0 && semctl(set, 0, GETNCNT) == 0);
}

static void test_undo(void)
{
    CHECK(operate(2, -3, 0) == 0 && operate(2, 10, 0) == 0 && value(2) == 10);
    pid_t child = fork();
    if (child == 0)
        _exit(operate(2, -4, SEM_UNDO) == 0 && operate(2, 1, SEM_UNDO) == 0 && value(2) == 7 ? 0 : 1);
    CHECK(ended_with(child) == 0 && value(2) == 10);
    child = fork();
    if (child == 0) {
        operate(2, -9, SEM_UNDO);
        for (;;)
            pause();
    }
    while (value(2) != 1)
        usleep(1000);
    CHECK(kill(child, SIGKILL) == 0 && ended_with(child) == SIGKILL && value(2) == 10);
    child = fork(); /* SETVAL forgets what the end of a process would undo */
    if (child == 0)
        _exit(operate(2, -9, SEM_UNDO) == 0 && semctl(set, 2, SETVAL, (union argument){.value = 5}) == 0 ? 0 : 1);
    CHECK(ended_with(child) == 0 && value(2) == 5);
}

static void test_removal(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(operate(0, -1, 0) == -1 && errno == EIDRM ? 0 : 1);
    until_waited_for(0, GETNCNT);
    int other = semget(IPC_PRIVATE, 2, 0600);
    CHECK(semctl(other, 1, SETVAL, (union argument){.value = 9}) == 0);
    CHECK(semctl(set, 0, IPC_RMID) == 0 && ended_with(child) == 0);
    CHECK(semctl(other, 1, GETVAL) == 9 && semctl(other, 0, IPC_RMID) == 0);
}

int main(void)
{
    test_keys();
    set = semget(IPC_PRIVATE, 4, 0600);
    CHECK(set >= 0);
    test_values();
    test_operations();
    test_processes();
    test_threads();
    test_interruptions();
    test_undo();
    test_removal();
    return check_result();
}
