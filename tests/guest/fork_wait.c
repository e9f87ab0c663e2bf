/* Processes: fork, exit statuses, wait in all its forms, pipes and shared memory between parent and child. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void statuses_come_back(void)
{
    int status;
    for (int code = 0; code < 256; code += 85) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(code);
        CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
    }
    static const int fatal[] = {SIGKILL, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGPIPE};
    for (unsigned i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            kill(getpid(), fatal[i]);
            _exit(99);
        }
        CHECK(wait(&status) == pid && WIFSIGNALED(status) && WTERMSIG(status) == fatal[i]);
    }
    CHECK(wait(&status) == -1 && errno == ECHILD);
    CHECK(waitpid(getpid(), &status, 0) == -1 && errno == ECHILD);
}

static int global = 1;

static void memory_is_copied(void)
{
    int local = 1, status;
    char *heap = malloc(100000);
    memset(heap, 1, 100000);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        global = local = heap[50000] = 2;
        _exit(getppid() == parent && getpid() != parent ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(global == 1 && local == 1 && heap[50000] == 1);
    free(heap);
}

static void pipes_connect(void)
{
    int ends[2], sum = 0, status;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        for (int i = 1; i <= 50000; i++)
            if (write(ends[1], &i, sizeof i) != sizeof i)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int i;
    while (read(ends[0], &i, sizeof i) == sizeof i)
        sum += i % 7;
    close(ends[0]);
    CHECK(sum == 150003);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);

    /* A reader that leaves: the writer gets SIGPIPE. */
    CHECK(pipe(ends) == 0);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        usleep(50000);
        for (;;)
            if (write(ends[1], "x", 1) < 0)
                _exit(1);
    }
    close(ends[0]);
    close(ends[1]);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

static void waiting_in_other_ways(void)
{
    int ends[2], status;
    siginfo_t info;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(ends[1]);
        if (read(ends[0], &byte, 1) != 0)
            _exit(1);
        _exit(7);
    }
    CHECK(waitpid(-1, &status, WNOHANG) == 0);
    memset(&info, 1, sizeof info);
    CHECK(waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0);
    close(ends[0]);
    close(ends[1]);
    CHECK(waitid(P_PID, pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_pid == pid && info.si_code == CLD_EXITED && info.si_status == 7 && info.si_signo == SIGCHLD);
    struct rusage usage;
    CHECK(wait4(pid, &status, 0, &usage) == pid && WEXITSTATUS(status) == 7);
    CHECK(waitid(P_PID, pid, &info, WEXITED) == -1 && errno == ECHILD);

    pid = fork();
    if (pid == 0) {
        raise(SIGSTOP);
        _exit(8);
    }
    CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    kill(pid, SIGCONT);
    CHECK(waitpid(pid, &status, WCONTINUED) == pid);
    if (WIFCONTINUED(status))
        CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
}

static void process_groups(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(setpgid(0, 0) == 0 && getpgrp() == getpid());
        pid_t inner = fork();
        if (inner == 0) {
            CHECK(getpgrp() == getppid());
            pause();
            _exit(1);
        }
        signal(SIGTERM, SIG_IGN);
        CHECK(kill(0, SIGTERM) == 0); /* both of the group, and nobody else */
        CHECK(waitpid(inner, &status, 0) == inner && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        _exit(check_result());
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void semaphores_are_shared(void)
{
    struct {
        sem_t ping, pong;
        int value;
    } *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    sem_init(&shared->ping, 1, 0);
    sem_init(&shared->pong, 1, 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 20; i++) {
            sem_wait(&shared->ping);
            shared->value++;
            sem_post(&shared->pong);
        }
        _exit(0);
    }
    for (int i = 0; i < 20; i++) {
        sem_post(&shared->ping);
        sem_wait(&shared->pong);
        CHECK(shared->value == i + 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void *idle(void *unused)
{
    for (;;)
        usleep(1000);
    return unused;
}

/* Only the thread that forks is in the child. */
static void a_threaded_process_forks(void)
{
    pthread_t thread;
    int status;
    pthread_create(&thread, NULL, idle, NULL);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            usleep(5000);
            exit(4);
        }
        CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 4);
    }
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static void generations(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int sum = 0;
        for (int i = 0; i < 3; i++)
            if (fork() == 0)
                _exit(i + 1);
        while (wait(&status) > 0)
            sum += WEXITSTATUS(status);
        _exit(sum);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 6);
}

int main(void)
{
    statuses_come_back();
    memory_is_copied();
    pipes_connect();
    waiting_in_other_ways();
    process_groups();
    semaphores_are_shared();
    a_threaded_process_forks();
    generations();
    return check_result();
}
