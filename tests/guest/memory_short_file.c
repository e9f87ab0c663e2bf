/* System calls with pointers into a mapping behind the end of its file fail with EFAULT; touching it is SIGBUS. */
/* not for qemu: 7.2 dies of the SIGBUS itself. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static sigjmp_buf escape;
static int got_code;

static void on_bus(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    got_code = info->si_code;
    siglongjmp(escape, 1);
}

int main(void)
{
    char name[] = "short-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0);
    unlink(name);
    CHECK(ftruncate(fd, 8192) == 0);
    char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(p != MAP_FAILED);
    memset(p, 'x', 8192);
    CHECK(ftruncate(fd, 4096) == 0);

    CHECK(clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(p + 4096)) == -1 && errno == EFAULT);
    CHECK(nanosleep((struct timespec *)(p + 4096), NULL) == -1 && errno == EFAULT);
    CHECK(open(p + 4000, O_RDONLY) == -1 && errno == EFAULT); /* a string that runs over the end */
    CHECK(open(p + 4096, O_RDONLY) == -1 && errno == EFAULT);
    CHECK(write(fd, p + 4096, 1) == -1 && errno == EFAULT);
    CHECK(clock_gettime(CLOCK_MONOTONIC, (struct timespec *)p) == 0);

    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    if (sigsetjmp(escape, 1) == 0) {
        *(volatile char *)(p + 4096) = 1;
        CHECK(!"the store must not succeed");
    }
    CHECK(got_code == BUS_ADRERR);
    return check_result();
}
