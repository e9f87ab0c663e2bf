/* Sockets, where they are allowed: Unix sockets by path, TCP over the loopback, between threads. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../check.h"

static struct sockaddr_storage where;
static socklen_t where_length;
static int family;

static void *client(void *unused)
{
    char text[16] = "";
    int fd = socket(family, SOCK_STREAM, 0);
    (void)unused;
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&where, where_length) == 0);
    CHECK(connect(fd, (struct sockaddr *)&where, where_length) == -1 && errno == EISCONN);
    CHECK(send(fd, "question", 8, 0) == 8);
    CHECK(recv(fd, text, sizeof text, 0) == 6 && memcmp(text, "answer", 6) == 0);
    CHECK(recv(fd, text, sizeof text, 0) == 0);
    close(fd);
    return NULL;
}

static void talk(int listener)
{
    pthread_t thread;
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    char text[16];
    CHECK(listen(listener, 5) == 0 && pthread_create(&thread, NULL, client, NULL) == 0);
    int fd = accept(listener, (struct sockaddr *)&peer, &length);
    CHECK(fd >= 0 && peer.ss_family == family);
    CHECK(recv(fd, text, sizeof text, 0) == 8 && send(fd, "answer", 6, 0) == 6);
    CHECK(close(fd) == 0 && pthread_join(thread, NULL) == 0);
    close(listener);
}

static void unix_stream(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX}, again;
    socklen_t length = sizeof again;
    struct stat st;
    strcpy(name.sun_path, "socket");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0 && stat("socket", &st) == 0 && S_ISSOCK(st.st_mode));
    CHECK(getsockname(fd, (struct sockaddr *)&again, &length) == 0 && strcmp(again.sun_path, "socket") == 0);
    int other = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(other, (struct sockaddr *)&name, sizeof name) == -1 && errno == EADDRINUSE);
    close(other);
    memcpy(&where, &name, sizeof name);
    where_length = sizeof name;
    family = AF_UNIX;
    talk(fd);
    other = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(connect(other, (struct sockaddr *)&name, sizeof name) == -1 && errno == ECONNREFUSED);
    CHECK(unlink("socket") == 0);
    CHECK(connect(other, (struct sockaddr *)&name, sizeof name) == -1 && errno == ENOENT);
    close(other);
}

static void *accept_later(void *listener)
{
    usleep(3000);
    for (int i = 0; i < 2; i++) {
        int fd = accept(*(int *)listener, NULL, NULL);
        CHECK(fd >= 0 && close(fd) == 0);
    }
    return NULL;
}

/* A connection to a listener whose queue is full waits until another thread accepts. */
static void full_queue(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "queue"};
    pthread_t thread;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), a = socket(AF_UNIX, SOCK_STREAM, 0),
        b = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof name) == 0 && listen(listener, 0) == 0);
    CHECK(connect(a, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(pthread_create(&thread, NULL, accept_later, &listener) == 0);
    CHECK(connect(b, (struct sockaddr *)&name, sizeof name) == 0 && pthread_join(thread, NULL) == 0);
    close(a);
    close(b);
    close(listener);
    unlink("queue");
}

static void tcp(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, value = 0;
    socklen_t size = sizeof value;
    CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size) == 0 && value != 0);
    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&name, &length) == 0 && name.sin_port != 0);
    memcpy(&where, &name, sizeof name);
    where_length = sizeof name;
    family = AF_INET;
    talk(fd);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == -1 && errno == ECONNREFUSED);
    close(fd);
}

static void udp(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, from;
    socklen_t length = sizeof name;
    char text[16];
    int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(bind(a, (struct sockaddr *)&name, sizeof name) == 0 &&
          getsockname(a, (struct sockaddr *)&name, &length) == 0);
    CHECK(sendto(b, "hello", 5, 0, (struct sockaddr *)&name, sizeof name) == 5);
    length = sizeof from;
    CHECK(recvfrom(a, text, sizeof text, 0, (struct sockaddr *)&from, &length) == 5 && length == sizeof from);
    struct iovec iov[2] = {{"to", 2}, {"gether", 6}};
    struct msghdr m = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = iov, .msg_iovlen = 2};
    CHECK(sendmsg(a, &m, 0) == 8 && recv(b, text, sizeof text, 0) == 8 && memcmp(text, "together", 8) == 0);
    struct mmsghdr two[2] = {{.msg_hdr = m}, {.msg_hdr = m}};
    CHECK(sendmmsg(a, two, 2, 0) == 2 && two[1].msg_len == 8 && recv(b, text, sizeof text, 0) == 8);
    close(a);
    close(b);
}

int main(void)
{
    unix_stream();
    full_queue();
    tcp();
    udp();
    return check_result();
}
