/* Memory that was accessible and no longer is: replaced by mappings, by mremap, cut off by another process.
 * not for qemu: version 7.2 aborts on SIGBUS behind the end of a file. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static sigjmp_buf back;
static volatile int caught;
static char *volatile where; /* si_addr */

static void on_fault(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    caught = number;
    where = info->si_addr;
    siglongjmp(back, 1);
}

/* The signal that the access ends in, or 0. */
static int load(volatile const char *at)
{
    caught = 0;
    if (sigsetjmp(back, 1) == 0)
        (void)*at;
    return caught;
}

static int store(volatile char *at)
{
    caught = 0;
    if (sigsetjmp(back, 1) == 0)
        *at = 1;
    return caught;
}

static char *map(void *at, int prot, int flags)
{
    return mmap(at, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void replaced(void)
{
    char *page = map(NULL, PROT_READ | PROT_WRITE, 0);
    CHECK(store(page) == 0 && load(page) == 0);
    CHECK(map(page, PROT_READ, MAP_FIXED) == page);
    CHECK(store(page) == SIGSEGV && load(page) == 0);
    CHECK(map(page, PROT_NONE, MAP_FIXED) == page);
    CHECK(store(page) == SIGSEGV && load(page) == SIGSEGV);
    CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0 && store(page) == 0);
    char *readable = map(NULL, PROT_READ, 0);
    CHECK(mremap(readable, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page) == page);
    CHECK(store(page) == SIGSEGV && load(page) == 0 && load(readable) == SIGSEGV);
    CHECK(munmap(page, 4096) == 0 && load(page) == SIGSEGV);
}

/* The address at fault is that of the first byte that cannot be accessed. */
static void across(void)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
    volatile uint64_t *last = (volatile uint64_t *)(pages + 4092);
    caught = 0;
    if (sigsetjmp(back, 1) == 0)
        *last = 1;
    CHECK(caught == SIGSEGV && where == pages + 4096);
    caught = 0;
    if (sigsetjmp(back, 1) == 0)
        (void)*last;
    CHECK(caught == SIGSEGV && where == pages + 4096);
    CHECK(load(pages + 4100) == SIGSEGV && where == pages + 4100);
}

static void cut(void)
{
    int fd = open("cut", O_RDWR | O_CREAT | O_TRUNC, 0600), status;
    CHECK(fd >= 0 && ftruncate(fd, 8192) == 0);
    char *file = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(file != MAP_FAILED && store(file + 4096) == 0 && load(file + 4096) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(ftruncate(fd, 4096) != 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(store(file + 4096) == SIGBUS && load(file + 4096) == SIGBUS && load(file) == 0);
    CHECK(ftruncate(fd, 8192) == 0 && load(file + 4096) == 0 && store(file + 4096) == 0);
    CHECK(ftruncate(fd, 0) == 0 && load(file) == SIGBUS);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    replaced();
    across();
    cut();
    return check_result();
}
