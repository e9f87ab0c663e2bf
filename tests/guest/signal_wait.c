/* Signals and sleeping calls: which are interrupted, which restart, and with which mask they sleep. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static volatile int count;
static int pipe_ends[2];

static void note(int sig)
{
    (void)sig;
    count++;
}

static void write_to_pipe(int sig)
{
    (void)sig;
    count++;
    if (count == 2)
        CHECK(write(pipe_ends[1], "x", 1) == 1);
}

static void set_handler(int sig, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    CHECK(sigaction(sig, &action, NULL) == 0);
}

static void set_alarm(int first_ms, int interval_ms)
{
    struct itimerval timer = {{0, interval_ms * 1000}, {0, first_ms * 1000}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void read_restarts_only_if_asked(void)
{
    char byte;
    CHECK(pipe(pipe_ends) == 0);
    count = 0;
    set_handler(SIGALRM, note, 0);
    set_alarm(20, 0);
    CHECK(read(pipe_ends[0], &byte, 1) == -1 && errno == EINTR && count == 1);

    count = 0;
    set_handler(SIGALRM, write_to_pipe, SA_RESTART);
    set_alarm(20, 20);
    CHECK(read(pipe_ends[0], &byte, 1) == 1 && byte == 'x' && count == 2);
    set_alarm(0, 0);
}

static void sleeps_tell_what_is_left(void)
{
    struct timespec ten = {10, 0}, left = {0, 0};
    count = 0;
    set_handler(SIGALRM, note, SA_RESTART);
    set_alarm(30, 0);
    CHECK(nanosleep(&ten, &left) == -1 && errno == EINTR && count == 1);
    CHECK(left.tv_sec == 9 && left.tv_nsec > 0);
    set_alarm(30, 0);
    CHECK(poll(NULL, 0, 5000) == -1 && errno == EINTR && count == 2);
    set_alarm(30, 0);
    CHECK(pause() == -1 && errno == EINTR && count == 3);
    alarm(1);
    unsigned seconds = sleep(5);
    CHECK(seconds == 4 || seconds == 3); /* 3.99, on a real clock */
    CHECK(count == 4);
}

static void sigsuspend_swaps_the_mask(void)
{
    sigset_t block, none, now;
    count = 0;
    set_handler(SIGUSR1, note, 0);
    sigemptyset(&none);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, NULL);
    raise(SIGUSR1);
    CHECK(count == 0);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR && count == 1);
    sigprocmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGUSR1)); /* blocked again */

    /* ppoll and pselect: the same, and a ready descriptor comes before the signal. */
    raise(SIGUSR1);
    struct timespec second = {1, 0};
    struct pollfd ready = {pipe_ends[1], POLLOUT, 0};
    CHECK(ppoll(NULL, 0, &second, &none) == -1 && errno == EINTR && count == 2);
    CHECK(ppoll(&ready, 1, &second, &none) == 1 && count == 2);
    raise(SIGUSR1);
    CHECK(pselect(0, NULL, NULL, NULL, &second, &none) == -1 && errno == EINTR && count == 3);
    CHECK(ppoll(NULL, 0, &(struct timespec){0, 1000000}, &none) == 0);
    sigprocmask(SIG_UNBLOCK, &block, NULL);
    CHECK(count == 3);
}

static void sigtimedwait_waits(void)
{
    sigset_t set;
    siginfo_t info;
    struct timespec moment = {0, 20000000}, second = {1, 0};
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    CHECK(sigtimedwait(&set, &info, &moment) == -1 && errno == EAGAIN);
    set_alarm(20, 0);
    CHECK(sigtimedwait(&set, &info, &second) == SIGALRM && info.si_signo == SIGALRM);
    set_handler(SIGUSR1, note, 0);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void children_report(void)
{
    count = 0;
    set_handler(SIGCHLD, note, 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    while (count == 0)
        CHECK(usleep(1000) == 0 || errno == EINTR);
    int status;
    CHECK(waitpid(pid, &status, WNOHANG) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    /* The child signals its parent, which waits for it. */
    set_handler(SIGUSR1, note, 0);
    set_handler(SIGCHLD, SIG_DFL, 0);
    count = 0;
    pid_t parent = getpid();
    pid = fork();
    if (pid == 0) {
        kill(parent, SIGUSR1);
        usleep(300000);
        _exit(0);
    }
    while (count == 0)
        usleep(1000);
    CHECK(count == 1);
    /* ... and the other way round. */
    CHECK(kill(pid, SIGTERM) == 0 || errno == ESRCH);
    CHECK(waitpid(pid, &status, 0) == pid);
    signal(SIGCHLD, SIG_IGN);
    if (fork() == 0)
        _exit(0);
    CHECK(wait(NULL) == -1 && errno == ECHILD);
    signal(SIGCHLD, SIG_DFL);
}

static volatile pthread_t handled_by;

static void note_thread(int sig)
{
    (void)sig;
    handled_by = pthread_self();
    count++;
}

static void *wait_for_two(void *unused)
{
    while (count < 2)
        usleep(1000);
    return unused;
}

static void signals_go_to_threads(void)
{
    pthread_t thread;
    sigset_t set;
    count = 0;
    set_handler(SIGUSR1, note_thread, 0);
    CHECK(pthread_create(&thread, NULL, wait_for_two, NULL) == 0);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    while (count < 1)
        usleep(100);
    CHECK(handled_by == thread);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1); /* only the other thread can take it */
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(handled_by == thread && count == 2);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int main(void)
{
    read_restarts_only_if_asked();
    sleeps_tell_what_is_left();
    sigsuspend_swaps_the_mask();
    sigtimedwait_waits();
    children_report();
    signals_go_to_threads();
    return check_result();
}
