/* timerfd: expiries are counted, waited for and read; time is that of the clocks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { MS = 1000000 };

static int64_t now_ns(int clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static struct itimerspec in_ns(int64_t first, int64_t interval)
{
    return (struct itimerspec){{interval / 1000000000, interval % 1000000000},
                               {first / 1000000000, first % 1000000000}};
}

static void test_one_shot(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec value = in_ns(20 * MS, 0), left;
    uint64_t count = 0;
    CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(timerfd_gettime(fd, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    int64_t begin = now_ns(CLOCK_MONOTONIC);
    CHECK(timerfd_settime(fd, 0, &value, NULL) == 0);
    CHECK(timerfd_gettime(fd, &left) == 0 && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 20 * MS);
    CHECK(read(fd, &count, sizeof count) == 8 && count == 1);
    CHECK(now_ns(CLOCK_MONOTONIC) - begin >= 20 * MS);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    CHECK(poll(&poll_fd, 1, 0) == 0);
    CHECK(read(fd, &count, 4) == -1 && errno == EINVAL);
    CHECK(write(fd, &count, 8) == -1 && errno == EINVAL);
    CHECK(close(fd) == 0);
}

static void test_periodic_and_absolute(void)
{
    int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK), again = dup(fd);
    struct itimerspec value = in_ns(now_ns(CLOCK_REALTIME) + 10 * MS, 10 * MS), old;
    uint64_t count = 0;
    CHECK(read(fd, &count, sizeof count) == -1 && errno == EAGAIN);
    CHECK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &value, NULL) == 0);
    usleep(105000);
    CHECK(read(again, &count, sizeof count) == 8 && count >= 10);
    CHECK(timerfd_settime(again, 0, &(struct itimerspec){{0, 0}, {0, 0}}, &old) == 0 &&
          old.it_interval.tv_nsec == 10 * MS);
    usleep(30000);
    CHECK(read(fd, &count, sizeof count) == -1 && errno == EAGAIN);
    close(fd);
    value = in_ns(5 * MS, 0);
    CHECK(timerfd_settime(again, 0, &value, NULL) == 0);
    struct pollfd poll_fd = {.fd = again, .events = POLLIN};
    CHECK(poll(&poll_fd, 1, -1) == 1 && poll_fd.revents == POLLIN);
    /* Setting it forgets what was not read. */
    value = in_ns(1000000000, 0);
    CHECK(timerfd_settime(again, 0, &value, NULL) == 0 && poll(&poll_fd, 1, 0) == 0);
    close(again);
}

/* Two timers in an epoll set expire in their order. */
static void test_epoll(void)
{
    int set = epoll_create1(0), early = timerfd_create(CLOCK_MONOTONIC, 0), late = timerfd_create(CLOCK_BOOTTIME, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = early};
    struct itimerspec first = in_ns(10 * MS, 0), second = in_ns(40 * MS, 0);
    uint64_t count;
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, early, &event) == 0);
    event.data.fd = late;
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, late, &event) == 0);
    CHECK(timerfd_settime(late, 0, &second, NULL) == 0 && timerfd_settime(early, 0, &first, NULL) == 0);
    CHECK(epoll_wait(set, &event, 1, -1) == 1 && event.data.fd == early && read(early, &count, 8) == 8);
    CHECK(epoll_wait(set, &event, 1, -1) == 1 && event.data.fd == late && read(late, &count, 8) == 8);
    close(set), close(early), close(late);
}

static void test_fork(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec value = in_ns(10 * MS, 0);
    uint64_t count = 0;
    CHECK(timerfd_settime(fd, 0, &value, NULL) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(read(fd, &count, sizeof count) == 8 && count == 1 ? 0 : 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(fd);
}

int main(void)
{
    uint64_t count;
    CHECK(timerfd_create(99, 0) == -1 && errno == EINVAL);
    CHECK(timerfd_settime(0, 0, &(struct itimerspec){{0, 0}, {0, 0}}, NULL) == -1 && errno == EINVAL);
    CHECK(timerfd_gettime(77, (struct itimerspec *)&count) == -1 && errno == EBADF);
    test_one_shot();
    test_periodic_and_absolute();
    test_epoll();
    test_fork();
    return check_result();
}
