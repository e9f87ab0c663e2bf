/* signalfd: blocked signals are read from a descriptor. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static sigset_t set_of(int first, int second)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    sigaddset(&set, second);
    return set;
}

static void test_signals_are_read(void)
{
    sigset_t set = set_of(SIGUSR1, SIGRTMIN);
    struct signalfd_siginfo info[4];
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    CHECK(fd >= 0 && poll(&poll_fd, 1, 0) == 0);
    CHECK(read(fd, info, sizeof info) == -1 && errno == EAGAIN);
    CHECK(read(fd, info, 8) == -1 && errno == EINVAL);
    CHECK(kill(getpid(), SIGUSR1) == 0 && kill(getpid(), SIGUSR1) == 0);
    CHECK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 7}) == 0);
    CHECK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 8}) == 0);
    CHECK(poll(&poll_fd, 1, -1) == 1);
    CHECK(read(fd, info, sizeof info) == 3 * (ssize_t)sizeof info[0]);
    CHECK(info[0].ssi_signo == SIGUSR1 && info[0].ssi_pid == (unsigned)getpid() && info[0].ssi_code == SI_USER);
    CHECK(info[1].ssi_signo == (unsigned)SIGRTMIN && info[1].ssi_int == 7 && info[2].ssi_int == 8);
    CHECK(poll(&poll_fd, 1, 0) == 0);
    /* What sigtimedwait takes is not readable any more. */
    CHECK(raise(SIGUSR1) == 0 && poll(&poll_fd, 1, 0) == 1);
    CHECK(sigtimedwait(&set, NULL, &(struct timespec){0, 0}) == SIGUSR1 && poll(&poll_fd, 1, 0) == 0);
    /* Another set on the same descriptor. */
    sigset_t other = set_of(SIGUSR2, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &other, NULL) == 0 && signalfd(fd, &other, 0) == fd);
    CHECK(raise(SIGUSR1) == 0 && poll(&poll_fd, 1, 0) == 0);
    CHECK(raise(SIGUSR2) == 0 && read(fd, info, sizeof info) == (ssize_t)sizeof info[0]);
    CHECK(info[0].ssi_signo == SIGUSR2);
    CHECK(sigtimedwait(&set, NULL, &(struct timespec){0, 0}) == SIGUSR1);
    close(fd);
}

/* A child's end wakes an epoll_wait; the child has its own signals. */
static void test_children(void)
{
    sigset_t set = set_of(SIGCHLD, SIGUSR1);
    struct signalfd_siginfo info;
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    int fd = signalfd(-1, &set, 0), epoll = epoll_create1(0), status = -1;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    pid_t child = fork();
    if (child == 0) {
        int good = raise(SIGUSR1) == 0 && read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1;
        _exit(good ? 5 : 1);
    }
    CHECK(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.fd == fd);
    CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGCHLD);
    CHECK(info.ssi_pid == (unsigned)child && info.ssi_status == 5 && info.ssi_code == CLD_EXITED);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
    /* A blocking read waits for the signal of a later child. */
    child = fork();
    if (child == 0) {
        usleep(20000);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1 && info.ssi_pid == (unsigned)child);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(fd), close(epoll);
}

int main(void)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR1);
    CHECK(signalfd(0, &set, 0) == -1 && errno == EINVAL);
    CHECK(signalfd(77, &set, 0) == -1 && errno == EBADF);
    test_signals_are_read();
    test_children();
    return check_result();
}
