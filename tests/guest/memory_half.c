/* Pages that a call has changed in part, or that lie behind the end of shared memory: a system call may access a page
 * exactly if the program may. */
/* not for qemu: 7.2 dies of the SIGBUS itself. not with sanitizers: it uses up the mappings of the host. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define PAGE  4096L
#define PAGES 200000L

static sigjmp_buf back;
static volatile int caught;

static void on_fault(int number)
{
    caught = number;
    siglongjmp(back, 1);
}

/* The signal that a store ends in, or 0. */
static int store(volatile char *at)
{
    caught = 0;
    if (sigsetjmp(back, 1) == 0)
        *at = 1;
    return caught;
}

static int call_writes(char *at)
{
    return clock_gettime(CLOCK_MONOTONIC, (struct timespec *)at) == 0;
}

static int call_reads(int fd, const char *at)
{
    return write(fd, at, 8) == 8;
}

/* mremap extends the mapping, not the object. */
static void grown_shared_memory(void)
{
    int fd = open("half", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *p = mmap(NULL, 8 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fd >= 0 && munmap(p, 8 * PAGE) == 0);
    CHECK(mmap(p, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
    p = mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    CHECK(p != MAP_FAILED);
    CHECK(store(p) == 0 && call_writes(p) && call_reads(fd, p));
    CHECK(!call_writes(p + PAGE) && errno == EFAULT);
    CHECK(!call_reads(fd, p + PAGE) && errno == EFAULT);
    CHECK(!call_writes(p + PAGE - 8) && errno == EFAULT);
    CHECK(store(p + PAGE) == SIGBUS);
}

/* As many mappings as possible, then a call that changes one page and cannot split the mapping behind it. */
static void half_protected(void)
{
    char *all = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    long page = 0;
    CHECK(all != MAP_FAILED);
    while (page < PAGES - 4 && mprotect(all + page * PAGE, PAGE, PROT_NONE) == 0)
        page += 2;
    CHECK(page > 4 && page < PAGES - 4);
    char *last = all + (page - 2) * PAGE;
    CHECK(mprotect(last, PAGE, PROT_READ | PROT_WRITE) == 0 && store(last) == 0);
    int result = mprotect(last, 3 * PAGE, PROT_NONE);
    CHECK(result == 0 || errno == ENOMEM);
    CHECK(call_writes(last) == (store(last) == 0));
    CHECK(munmap(all, PAGES * PAGE) == 0);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    grown_shared_memory();
    half_protected();
    return check_result();
}
