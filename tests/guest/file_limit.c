/* RLIMIT_NOFILE: no call makes a descriptor at or above the limit, and one that fails for that reason does nothing
 * else. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

enum { LIMIT = 40 };

static void set_limit(rlim_t soft)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = soft;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* Opens descriptors until there are no more; returns the last one. */
static int fill(void)
{
    int fd, last = -1;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && CHECK(fd < LIMIT))
        last = fd;
    CHECK(errno == EMFILE);
    return last;
}

static void test_calls(int last)
{
    int ends[2] = {-1, -1};
    char byte;
    CHECK(dup(0) == -1 && errno == EMFILE);
    CHECK(dup2(0, LIMIT) == -1 && errno == EBADF && dup2(last, last) == last);
    CHECK(fcntl(0, F_DUPFD, LIMIT) == -1 && errno == EINVAL && fcntl(0, F_DUPFD, 0) == -1 && errno == EMFILE);
    CHECK(eventfd(0, 0) == -1 && errno == EMFILE);
    CHECK(open("never made", O_WRONLY | O_CREAT, 0600) == -1 && errno == EMFILE && access("never made", F_OK) == -1);
    int fd = last; /* a full file is not cut */
    CHECK(close(fd) == 0 && (fd = open("full", O_RDWR | O_CREAT, 0600)) == last && write(fd, "full", 4) == 4);
    CHECK(open("full", O_WRONLY | O_TRUNC) == -1 && errno == EMFILE && pread(fd, &byte, 1, 3) == 1 && byte == 'l');
    CHECK(unlink("full") == 0 && close(fd) == 0);
    CHECK(pipe(ends) == -1 && errno == EMFILE && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == -1 && errno == EMFILE);
    CHECK(open("/dev/null", O_RDWR) == last);
    struct pollfd many[LIMIT + 1] = {{0}};
    CHECK(poll(many, LIMIT + 1, 0) == -1 && errno == EINVAL && poll(many, 0, 0) == 0);
}

/* Sends two descriptors to a process that has room for one. */
static void test_received(int last)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    int ends[2], sent[2] = {0, 1}, got;
    char byte = 'x';
    struct iovec iov = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    close(last), close(last - 1), close(last - 2);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    control.header =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), sent, sizeof sent);
    CHECK(sendmsg(ends[0], &message, 0) == 1);
    memset(&control, 0, sizeof control);
    message.msg_controllen = sizeof control.room;
    CHECK(recvmsg(ends[1], &message, 0) == 1 && (message.msg_flags & MSG_CTRUNC));
    memcpy(&got, CMSG_DATA(&control.header), sizeof got);
    CHECK(control.header.cmsg_len == CMSG_LEN(sizeof(int)) && got == last);
    close(ends[0]), close(ends[1]);
}

int main(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    int high = fcntl(0, F_DUPFD, 200);
    CHECK(high == 200);
    set_limit(LIMIT);
    int last = fill();
    CHECK(last == LIMIT - 1 && fcntl(high, F_GETFD) == 0); /* what is open stays open */
    test_calls(last);
    test_received(last);
    set_limit(limit.rlim_cur);
    CHECK(fcntl(0, F_DUPFD, LIMIT) == LIMIT);
    return check_result();
}
