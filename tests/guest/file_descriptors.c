/* Descriptors: numbers, duplicates, flags, locks, what the guest may not touch. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void numbers(void)
{
    int a = open("a", O_RDWR | O_CREAT, 0600), b = dup(a);
    CHECK(a == 3 && b == 4);
    CHECK(close(a) == 0 && open("/dev/null", O_RDONLY) == a);
    CHECK(dup2(b, 10) == 10 && dup3(b, 10, O_CLOEXEC) == 10 && fcntl(10, F_GETFD) == FD_CLOEXEC);
    CHECK(dup3(b, b, 0) == -1 && errno == EINVAL && dup2(b, b) == b);
    CHECK(fcntl(b, F_DUPFD, 20) == 20 && fcntl(b, F_DUPFD_CLOEXEC, 20) == 21 && fcntl(21, F_GETFD) == FD_CLOEXEC);
    CHECK(dup(99) == -1 && errno == EBADF && dup2(99, 5) == -1 && errno == EBADF);
    CHECK(dup2(b, 1 << 20) == -1 && errno == EBADF);
    CHECK(close_range(10, 21, 0) == 0 && fcntl(20, F_GETFD) == -1 && errno == EBADF);
    CHECK(close_range(5, 4, 0) == -1 && errno == EINVAL);
    CHECK(close(a) == 0 && close(b) == 0);
}

static void run_out(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    int fd, last = -1, count = 0;
    while ((fd = dup(0)) >= 0 && count < 100000) {
        last = fd;
        count++;
    }
    CHECK(errno == EMFILE && (rlim_t)last < limit.rlim_cur);
    CHECK(open("a", O_RDONLY) == -1 && errno == EMFILE);
    int pair[2];
    CHECK(pipe(pair) == -1 && errno == EMFILE);
    CHECK(close_range(3, ~0u, 0) == 0 && open("a", O_RDONLY) == 3 && close(3) == 0);
}

static void flags(void)
{
    int fd = open("a", O_RDWR | O_CREAT | O_CLOEXEC, 0600), value = 1;
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_SETFD, 0) == 0 && fcntl(fd, F_GETFD) == 0);
    CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
    CHECK(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK) == 0 &&
          (fcntl(fd, F_GETFL) & (O_APPEND | O_NONBLOCK)) == (O_APPEND | O_NONBLOCK));
    CHECK(fcntl(fd, 9999) == -1 && errno == EINVAL && fcntl(99, F_GETFD) == -1 && errno == EBADF);
    CHECK(ioctl(fd, FIOCLEX) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(ioctl(fd, FIONBIO, &value) == 0 && ioctl(fd, TIOCGWINSZ, &value) == -1 && errno == ENOTTY);
    CHECK(!isatty(fd));
    close(fd);
}

static void locks(void)
{
    int fd = open("a", O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
    int ready[2];
    char byte;
    CHECK(fcntl(fd, F_SETLK, &lock) == 0 && pipe(ready) == 0);
    if (fork() == 0) {
        struct flock probe = lock;
        int failures = 0;
        failures += fcntl(fd, F_GETLK, &probe) != 0 || probe.l_type != F_WRLCK || probe.l_pid != getppid();
        failures += fcntl(fd, F_SETLK, &lock) != -1 || (errno != EAGAIN && errno != EACCES);
        failures += write(ready[1], "", 1) != 1;
        failures += fcntl(fd, F_SETLKW, &lock) != 0; /* until the parent lets go */
        _exit(failures);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    int status;
    lock.l_type = F_UNLCK;
    CHECK(fcntl(fd, F_SETLK, &lock) == 0);
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    int other = open("a", O_RDWR);
    CHECK(flock(fd, LOCK_EX) == 0 && flock(other, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
    CHECK(flock(fd, LOCK_UN) == 0 && flock(other, LOCK_EX) == 0);
    close(fd);
    close(other);
    close(ready[0]);
    close(ready[1]);
}

static void memory_files(void)
{
    struct stat st;
    int fd = memfd_create("name", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && ftruncate(fd, INT64_MAX) == 0 && fstat(fd, &st) == 0 && st.st_size == INT64_MAX);
    CHECK(ftruncate(fd, 4096) == 0);
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(p != MAP_FAILED && pwrite(fd, "hello", 5, 0) == 5 && memcmp(p, "hello", 5) == 0);
    CHECK(munmap(p, 4096) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0 && write(fd, "x", 1) == -1 &&
          errno == EPERM);
    close(fd);
}

static void events(void)
{
    uint64_t value = 0;
    int fd = eventfd(3, EFD_NONBLOCK);
    CHECK(read(fd, &value, 8) == 8 && value == 3 && read(fd, &value, 8) == -1 && errno == EAGAIN);
    value = 5;
    CHECK(write(fd, &value, 8) == 8 && write(fd, &value, 8) == 8 && read(fd, &value, 8) == 8 && value == 10);
    CHECK(read(fd, &value, 4) == -1 && errno == EINVAL);
    close(fd);
}

int main(void)
{
    numbers();
    run_out();
    flags();
    locks();
    memory_files();
    events();
    return check_result();
}
