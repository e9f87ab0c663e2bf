/* Connected Unix sockets: bytes, messages, descriptors, threads. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

enum { BULK = 1 << 20 };

static char bulk[BULK], received[BULK];

static void *send_bulk(void *fd)
{
    CHECK(write(*(int *)fd, bulk, BULK) == BULK);
    CHECK(send(*(int *)fd, bulk, BULK, 0) == BULK);
    return NULL;
}

static void streams(void)
{
    int fds[2];
    pthread_t thread;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    for (int i = 0; i < BULK; i++)
        bulk[i] = (char)(i * 17 + i / 200);
    CHECK(pthread_create(&thread, NULL, send_bulk, &fds[0]) == 0);
    for (int round = 0; round < 2; round++) {
        memset(received, 0, BULK);
        CHECK(recv(fds[1], received, BULK, MSG_WAITALL) == BULK && memcmp(bulk, received, BULK) == 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(recv(fds[1], received, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    struct timeval limit = {0, 5000};
    CHECK(setsockopt(fds[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(recv(fds[1], received, 1, 0) == -1 && errno == EAGAIN);
    CHECK(read(fds[1], received, 1) == -1 && errno == EAGAIN);
    CHECK(shutdown(fds[0], SHUT_WR) == 0 && recv(fds[1], received, 1, 0) == 0);
    close(fds[1]);
    signal(SIGPIPE, SIG_IGN);
    CHECK(send(fds[0], "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
    close(fds[0]);
}

static void packets(void)
{
    int fds[2], type = 0;
    socklen_t size = sizeof type;
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) == 0 && fcntl(fds[0], F_GETFD) == FD_CLOEXEC);
    CHECK(send(fds[0], "one", 3, 0) == 3 && send(fds[0], "", 0, 0) == 0 && send(fds[0], "three", 5, 0) == 5);
    CHECK(recv(fds[1], received, 100, MSG_PEEK) == 3 && recv(fds[1], received, 2, 0) == 2);
    CHECK(recv(fds[1], received, 100, 0) == 0 && recvfrom(fds[1], received, 100, 0, NULL, NULL) == 5);
    CHECK(getsockopt(fds[0], SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM);
    CHECK(getsockopt(0, SOL_SOCKET, SO_TYPE, &type, &size) == -1 && errno == ENOTSOCK);
    CHECK(getsockname(fds[0], (struct sockaddr *)&name, &length) == 0 && length == 2 && name.sun_family == AF_UNIX);
    CHECK(send(fds[0], "last", 4, 0) == 4 && shutdown(fds[1], SHUT_RD) == 0);
    CHECK(recv(fds[1], received, 100, 0) == 4 && recv(fds[1], received, 100, 0) == 0);
    CHECK(recv(fds[1], received, 100, MSG_WAITALL) == 0 && read(fds[1], received, 100) == 0);
    close(fds[0]);
    close(fds[1]);
}

static void descriptors(void)
{
    int fds[2], ends[2];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {"!", 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 && pipe(ends) == 0);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &ends[1], sizeof(int));
    CHECK(sendmsg(fds[0], &m, 0) == 1 && close(ends[1]) == 0);
    char byte = 0;
    iov.iov_base = &byte;
    memset(&control, 0, sizeof control);
    CHECK(recvmsg(fds[1], &m, 0) == 1 && byte == '!' && m.msg_controllen == CMSG_SPACE(sizeof(int)));
    int passed = -1;
    memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
    CHECK(passed == ends[1] && write(passed, "z", 1) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'z');
    int bad = 1005;
    iov.iov_base = "?";
    m.msg_controllen = sizeof control;
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &bad, sizeof(int));
    CHECK(sendmsg(fds[0], &m, 0) == -1 && errno == EBADF);
    close(fds[0]);
    close(fds[1]);
    close(ends[0]);
    close(passed);
}

int main(void)
{
    streams();
    packets();
    descriptors();
    return check_result();
}
