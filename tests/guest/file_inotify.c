/* inotify: events of one's own changes and of a child's, in their order; reads that wait; watches that end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int fd, watch;
static char events[4096];
static ssize_t bytes, at;

/* Reads all events that there are, or waits for the first. */
static void fetch(void)
{
    bytes = read(fd, events, sizeof events);
    at = 0;
}

/* The next event that was fetched is this one. Returns its cookie, which is not 0 for renames only; -1: it is not. */
static int64_t next_is(uint32_t mask, const char *name)
{
    struct inotify_event e;
    if (at + (ssize_t)sizeof e > bytes)
        return -1;
    memcpy(&e, events + at, sizeof e);
    const char *its = e.len > 0 ? events + at + sizeof e : "";
    at += (ssize_t)(sizeof e + e.len);
    return e.wd == watch && e.mask == mask && strcmp(its, name) == 0 ? (int64_t)e.cookie : -1;
}

static void make_file(const char *name)
{
    int file = open(name, O_WRONLY | O_CREAT, 0600);
    CHECK(file >= 0 && write(file, "text", 4) == 4 && close(file) == 0);
}

static void test_changes(void)
{
    watch = inotify_add_watch(fd, "watched", IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVE | IN_DELETE | IN_ATTRIB);
    CHECK(watch == 1 && inotify_add_watch(fd, "missing", IN_CREATE) == -1 && errno == ENOENT);
    make_file("watched/a");
    CHECK(rename("watched/a", "watched/b") == 0 && chmod("watched/b", 0644) == 0);
    CHECK(mkdir("watched/folder", 0700) == 0 && rename("watched/b", "watched/c") == 0 && unlink("watched/c") == 0);
    int available = 0;
    CHECK(ioctl(fd, FIONREAD, &available) == 0 && available > 0);
    fetch();
    CHECK(bytes == available);
    CHECK(next_is(IN_CREATE, "a") == 0 && next_is(IN_MODIFY, "a") == 0 && next_is(IN_CLOSE_WRITE, "a") == 0);
    int64_t first = next_is(IN_MOVED_FROM, "a");
    CHECK(first > 0 && next_is(IN_MOVED_TO, "b") == first && next_is(IN_ATTRIB, "b") == 0);
    CHECK(next_is(IN_CREATE | IN_ISDIR, "folder") == 0);
    int64_t second = next_is(IN_MOVED_FROM, "b");
    CHECK(second > 0 && second != first && next_is(IN_MOVED_TO, "c") == second);
    CHECK(next_is(IN_DELETE, "c") == 0 && at == bytes);
}

static void test_reads(void)
{
    char small[16], rest[sizeof events];
    struct iovec parts[2] = {{small, sizeof small}, {rest, sizeof rest}};
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    CHECK(poll(&poll_fd, 1, 0) == 0);
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && read(fd, events, sizeof events) == -1 && errno == EAGAIN);
    CHECK(fcntl(fd, F_SETFL, 0) == 0 && write(fd, "x", 1) == -1 && errno == EBADF);
    CHECK(symlink("a", "watched/link") == 0);
    CHECK(poll(&poll_fd, 1, -1) == 1 && poll_fd.revents == POLLIN);
    CHECK(read(fd, small, sizeof small) == -1 && errno == EINVAL); /* too small for the event */
    CHECK(readv(fd, parts, 2) == -1 && errno == EINVAL);           /* so is the first of these */
    CHECK(unlink("watched/link") == 0);
    fetch();
    CHECK(next_is(IN_CREATE, "link") == 0 && next_is(IN_DELETE, "link") == 0 && at == bytes);
}

static void test_child(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        usleep(10000);
        _exit(mkdir("watched/child", 0700));
    }
    fetch();
    CHECK(next_is(IN_CREATE | IN_ISDIR, "child") == 0 && at == bytes);
    CHECK(waitpid(child, &status, 0) == child && status == 0 && rmdir("watched/child") == 0);
    fetch();
    CHECK(next_is(IN_DELETE | IN_ISDIR, "child") == 0);
}

static void test_watches(void)
{
    make_file("plain");
    CHECK(symlink("plain", "link") == 0);
    CHECK(inotify_add_watch(fd, "plain", IN_ONLYDIR | IN_MODIFY) == -1 && errno == ENOTDIR);
    CHECK(inotify_add_watch(fd, "plain", 0) == -1 && errno == EINVAL);
    CHECK(inotify_add_watch(0, "plain", IN_MODIFY) == -1 && errno == EINVAL);
    CHECK(inotify_add_watch(-1, "plain", IN_MODIFY) == -1 && errno == EBADF);
    int plain = inotify_add_watch(fd, "plain", IN_MODIFY | IN_DELETE_SELF);
    int link = inotify_add_watch(fd, "link", IN_DONT_FOLLOW | IN_DELETE_SELF);
    CHECK(plain > watch && link > plain && inotify_add_watch(fd, "link", IN_MASK_ADD | IN_MODIFY) == plain);
    CHECK(inotify_rm_watch(fd, watch) == 0 && rmdir("watched/folder") == 0);
    fetch();
    CHECK(next_is(IN_IGNORED, "") == 0 && at == bytes);
    CHECK(inotify_rm_watch(fd, watch) == -1 && errno == EINVAL && inotify_rm_watch(-1, 1) == -1 && errno == EBADF);
    CHECK(unlink("link") == 0 && unlink("plain") == 0);
    fetch();
    watch = link;
    CHECK(next_is(IN_DELETE_SELF, "") == 0 && next_is(IN_IGNORED, "") == 0);
    watch = plain;
    CHECK(next_is(IN_DELETE_SELF, "") == 0 && next_is(IN_IGNORED, "") == 0 && at == bytes);
}

int main(void)
{
    CHECK(inotify_init1(1) == -1 && errno == EINVAL);
    fd = inotify_init1(IN_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && mkdir("watched", 0700) == 0);
    test_changes();
    test_reads();
    test_child();
    test_watches();
    CHECK(rmdir("watched") == 0 && close(fd) == 0);
    return check_result();
}
