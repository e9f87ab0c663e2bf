/* Resource limits that are enforced: file size and address space; orphans go to a subreaper. */
/* not for qemu: it does not limit its own address space for the guest */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t seen;

static void note(int sig)
{
    seen = sig;
}

static void test_file_size(void)
{
    char bytes[100] = {0};
    struct rlimit limit = {150, RLIM_INFINITY};
    CHECK(signal(SIGXFSZ, note) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
    int fd = open("limited", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(write(fd, bytes, 100) == 100 && write(fd, bytes, 100) == 50 && seen == 0);
    CHECK(write(fd, bytes, 1) == -1 && errno == EFBIG && seen == SIGXFSZ);
    seen = 0;
    CHECK(pwrite(fd, bytes, 100, 100) == 50 && pwrite(fd, bytes, 1, 150) == -1 && errno == EFBIG && seen == SIGXFSZ);
    seen = 0;
    CHECK(ftruncate(fd, 150) == 0 && ftruncate(fd, 151) == -1 && errno == EFBIG && seen == SIGXFSZ);
    seen = 0;
    CHECK(truncate("limited", 150) == 0 && truncate("limited", 151) == -1 && errno == EFBIG && seen == SIGXFSZ);
    seen = 0;
    CHECK(fallocate(fd, 0, 0, 150) == 0 && fallocate(fd, 0, 0, 151) == -1 && errno == EFBIG && seen == SIGXFSZ);
    seen = 0;
    CHECK(ftruncate(fd, INT64_MIN) == -1 && errno == EINVAL && truncate("limited", INT64_MIN) == -1 && errno == EINVAL);
    limit.rlim_cur = 120;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0 && ftruncate(fd, 140) == 0 && ftruncate(fd, 150) == -1 &&
          seen == SIGXFSZ);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    int ends[2];
    CHECK(pipe(ends) == 0 && write(ends[1], bytes, 100) == 100 && write(ends[1], bytes, 100) == 100);
    limit.rlim_cur = RLIM_INFINITY;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0 && write(fd, bytes, 100) == 100);
    close(fd), close(ends[0]), close(ends[1]), unlink("limited");
}

static void test_address_space(void)
{
    const size_t mb = 1 << 20;
    struct rlimit limit = {64 * mb, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK(mmap(NULL, 100 * mb, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM);
    void *small = mmap(NULL, 4 * mb, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(small != MAP_FAILED);
    CHECK(mremap(small, 4 * mb, 100 * mb, MREMAP_MAYMOVE) == MAP_FAILED && errno == ENOMEM);
    CHECK(sbrk(100 * (long)mb) == (void *)-1);
    limit.rlim_cur = RLIM_INFINITY;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0 && munmap(small, 4 * mb) == 0);
}

static void test_subreaper(void)
{
    int is = 0, status = -1, ends[2];
    pid_t orphan = 0;
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && prctl(PR_GET_CHILD_SUBREAPER, &is) == 0 && is == 1);
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t self = getpid(), below = fork();
        if (below == 0) {
            while (getppid() == self)
                usleep(1000);
            pid_t me = getpid();
            _exit(write(ends[1], &me, sizeof me) == sizeof me ? 7 : 1);
        }
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(ends[0], &orphan, sizeof orphan) == sizeof orphan);
    CHECK(waitpid(-1, &status, 0) == orphan && WEXITSTATUS(status) == 7);
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
    close(ends[0]), close(ends[1]);
}

int main(void)
{
    struct rlimit limit;
    test_file_size();
    test_address_space();
    test_subreaper();
    CHECK(getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
    return check_result();
}
