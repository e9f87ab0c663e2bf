/* Waiting for descriptors: pipes between threads, poll, select, epoll, broken pipes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum {
    BULK = 1 << 20,
    CLOSED = 60, /* a descriptor that is not open: Linux always has a place for it, which select needs to see that */
};

static int ends[2];
static char bulk[BULK], received[BULK];

static void *write_bulk(void *unused)
{
    (void)unused;
    CHECK(write(ends[1], bulk, BULK) == BULK);
    struct iovec iov[3] = {{bulk, BULK / 2}, {bulk, 0}, {bulk + BULK / 2, BULK / 2}};
    CHECK(writev(ends[1], iov, 3) == BULK);
    close(ends[1]);
    return NULL;
}

/* A writer in one thread, a reader in the other: neither may stop the process. */
static void bulk_through_pipe(void)
{
    pthread_t thread;
    size_t got = 0;
    ssize_t n;
    for (int i = 0; i < BULK; i++)
        bulk[i] = (char)(i * 31 + i / 256);
    CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, write_bulk, NULL) == 0);
    while ((n = read(ends[0], received + got % BULK, BULK - got % BULK)) > 0)
        got += (size_t)n;
    CHECK(n == 0 && got == 2 * BULK && memcmp(bulk, received, BULK) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && close(ends[0]) == 0);
}

static void *write_later(void *fd)
{
    usleep(10000);
    CHECK(write(*(int *)fd, "x", 1) == 1);
    return NULL;
}

static void polling(void)
{
    int fds[2];
    pthread_t thread;
    CHECK(pipe(fds) == 0);
    struct pollfd p[3] = {{fds[0], POLLIN, 0}, {fds[1], POLLOUT, 0}, {-1, POLLIN, 7}};
    CHECK(poll(p, 3, -1) == 1 && p[0].revents == 0 && p[1].revents == POLLOUT && p[2].revents == 0);
    CHECK(poll(p, 1, 0) == 0 && poll(p, 1, 5) == 0);
    CHECK(pthread_create(&thread, NULL, write_later, &fds[1]) == 0);
    CHECK(poll(p, 1, -1) == 1 && p[0].revents == POLLIN);
    CHECK(pthread_join(thread, NULL) == 0);
    struct pollfd closed = {CLOSED, POLLIN, 0};
    CHECK(poll(&closed, 1, -1) == 1 && closed.revents == POLLNVAL);
    char c;
    CHECK(read(fds[0], &c, 1) == 1 && close(fds[1]) == 0);
    CHECK(poll(p, 1, -1) == 1 && (p[0].revents & POLLHUP));
    close(fds[0]);
    CHECK(poll(NULL, 0, 1) == 0);
}

static void selecting(void)
{
    int fds[2];
    fd_set in, out;
    struct timeval limit = {0, 1000};
    CHECK(pipe(fds) == 0);
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(fds[0], &in);
    CHECK(select(fds[0] + 1, &in, NULL, NULL, &limit) == 0 && !FD_ISSET(fds[0], &in));
    FD_SET(fds[0], &in);
    FD_SET(fds[1], &out);
    CHECK(select(fds[1] + 1, &in, &out, NULL, NULL) == 1 && !FD_ISSET(fds[0], &in) && FD_ISSET(fds[1], &out));
    CHECK(write(fds[1], "y", 1) == 1);
    FD_SET(fds[0], &in);
    CHECK(select(fds[1] + 1, &in, &out, NULL, NULL) == 2 && FD_ISSET(fds[0], &in));
    FD_ZERO(&in);
    FD_SET(CLOSED, &in);
    CHECK(select(CLOSED + 1, &in, NULL, NULL, NULL) == -1 && errno == EBADF);
    close(fds[0]);
    close(fds[1]);
}

static void epolling(void)
{
    int ep = epoll_create1(EPOLL_CLOEXEC), a = eventfd(0, 0), b = eventfd(1, 0);
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = UINT64_C(0x123456789abcdef0)}, got[4];
    CHECK(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, a, &e) == 0);
    CHECK(epoll_wait(ep, got, 4, 0) == 0 && epoll_wait(ep, got, 4, 2) == 0);
    e.data.u64 = 77;
    CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, b, &e) == 0 && epoll_ctl(ep, EPOLL_CTL_ADD, b, &e) == -1 && errno == EEXIST);
    CHECK(epoll_wait(ep, got, 4, -1) == 1 && got[0].data.u64 == 77 && got[0].events == EPOLLIN);
    uint64_t one = 1;
    CHECK(write(a, &one, 8) == 8 && epoll_wait(ep, got, 4, -1) == 2);
    CHECK(got[0].data.u64 + got[1].data.u64 == UINT64_C(0x123456789abcdef0) + 77);
    CHECK(epoll_ctl(ep, EPOLL_CTL_DEL, a, NULL) == 0 && epoll_wait(ep, got, 4, -1) == 1);
    CHECK(epoll_wait(ep, got, 0, 0) == -1 && errno == EINVAL);
    CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, CLOSED, &e) == -1 && errno == EBADF);
    close(a);
    close(b);
    close(ep);
}

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
    caught = sig;
}

static void broken(void)
{
    int fds[2];
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGPIPE, &action, NULL);
    CHECK(pipe(fds) == 0 && close(fds[0]) == 0);
    CHECK(write(fds[1], "x", 1) == -1 && errno == EPIPE && caught == SIGPIPE);
    signal(SIGPIPE, SIG_IGN);
    CHECK(write(fds[1], "x", 1) == -1 && errno == EPIPE);
    close(fds[1]);
}

static void interrupted(void)
{
    int fds[2];
    char c;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGALRM, &action, NULL);
    CHECK(pipe(fds) == 0);
    caught = 0;
    ualarm(5000, 5000); /* again and again: on a busy host the first may come before the wait */
    CHECK(read(fds[0], &c, 1) == -1 && errno == EINTR && caught == SIGALRM);
    struct pollfd p = {fds[0], POLLIN, 0};
    CHECK(poll(&p, 1, -1) == -1 && errno == EINTR);
    ualarm(0, 0);
    close(fds[0]);
    close(fds[1]);
}

/* What one thread waits for, another one of the same process does. */
static void *open_to_read(void *unused)
{
    char c = 0;
    (void)unused;
    usleep(3000);
    int fd = open("fifo", O_RDONLY);
    CHECK(fd >= 0 && read(fd, &c, 1) == 1 && c == 'f' && read(fd, &c, 1) == 0);
    close(fd);
    return NULL;
}

static void *unlock_later(void *fd)
{
    usleep(3000);
    CHECK(flock(*(int *)fd, LOCK_UN) == 0);
    return NULL;
}

static void no_descriptor_tells(void)
{
    pthread_t thread;
    unlink("fifo");
    CHECK(mkfifo("fifo", 0600) == 0 && pthread_create(&thread, NULL, open_to_read, NULL) == 0);
    int fd = open("fifo", O_WRONLY);
    CHECK(fd >= 0 && write(fd, "f", 1) == 1 && close(fd) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    fd = open("locked", O_RDWR | O_CREAT, 0600);
    int other = open("locked", O_RDWR);
    CHECK(flock(fd, LOCK_EX) == 0 && pthread_create(&thread, NULL, unlock_later, &fd) == 0);
    CHECK(flock(other, LOCK_EX) == 0 && pthread_join(thread, NULL) == 0);
    close(fd);
    close(other);
}

static void not_blocking(void)
{
    int fds[2];
    char c;
    CHECK(pipe2(fds, O_NONBLOCK | O_CLOEXEC) == 0 && fcntl(fds[0], F_GETFD) == FD_CLOEXEC);
    CHECK(read(fds[0], &c, 1) == -1 && errno == EAGAIN);
    ssize_t n = write(fds[1], bulk, BULK);
    CHECK(n > 0 && n < BULK && write(fds[1], bulk, BULK) == -1 && errno == EAGAIN);
    CHECK(fcntl(fds[1], F_GETPIPE_SZ) >= 4096);
    CHECK(lseek(fds[0], 0, SEEK_SET) == -1 && errno == ESPIPE && pread(fds[0], &c, 1, 0) == -1 && errno == ESPIPE);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    close(CLOSED); /* in case that it was inherited */
    bulk_through_pipe();
    polling();
    selecting();
    epolling();
    broken();
    interrupted();
    no_descriptor_tells();
    not_blocking();
    return check_result();
}
