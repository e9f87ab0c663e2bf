/* Mappings: where they go, what they hold, what they allow, and how they change. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096 };

static sigjmp_buf escape;
static int fault_code;
static void *fault_addr;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    fault_code = info->si_code;
    fault_addr = info->si_addr;
    siglongjmp(escape, 1);
}

/* The si_code of a store to p, or 0 if it succeeds. */
static int store_faults(volatile char *p)
{
    if (sigsetjmp(escape, 1) == 0) {
        *p = 'y';
        return 0;
    }
    CHECK(fault_addr == (void *)p);
    return fault_code;
}

static int load_faults(const volatile char *p)
{
    if (sigsetjmp(escape, 1) == 0) {
        (void)*p;
        return 0;
    }
    CHECK(fault_addr == (void *)p);
    return fault_code;
}

static char *map(void *at, size_t pages, int prot, int flags)
{
    return mmap(at, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void anonymous_memory_is_zero_and_faults_as_protected(void)
{
    char *p = map(NULL, 4, PROT_READ | PROT_WRITE, 0);
    CHECK(p != MAP_FAILED && (uintptr_t)p % PAGE == 0);
    for (int i = 0; i < 4 * PAGE; i += 512)
        CHECK(p[i] == 0);
    memset(p, 'x', 4 * PAGE);
    CHECK(mprotect(p + PAGE, PAGE, PROT_READ) == 0);
    CHECK(store_faults(p + PAGE) == SEGV_ACCERR && p[PAGE] == 'x');
    CHECK(store_faults(p) == 0 && store_faults(p + 2 * PAGE) == 0);
    CHECK(mprotect(p + PAGE, PAGE, PROT_NONE) == 0 && load_faults(p + PAGE) == SEGV_ACCERR);
    CHECK(mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0 && p[PAGE] == 'x');
    CHECK(munmap(p + 2 * PAGE, PAGE) == 0);
    CHECK(load_faults(p + 2 * PAGE) == SEGV_MAPERR && load_faults(p + 3 * PAGE) == 0);
    CHECK(mprotect(p, 4 * PAGE, PROT_READ) == -1 && errno == ENOMEM); /* there is a hole */
    CHECK(munmap(p, 4 * PAGE) == 0 && munmap(p, 4 * PAGE) == 0);
}

static void fixed_mappings_replace(void)
{
    char *p = map(NULL, 3, PROT_READ | PROT_WRITE, 0);
    memset(p, 'x', 3 * PAGE);
    CHECK(map(p + PAGE, 1, PROT_READ, MAP_FIXED) == p + PAGE);
    CHECK(p[0] == 'x' && p[PAGE] == 0 && p[2 * PAGE] == 'x');
    CHECK(map(p + PAGE, 1, PROT_READ, 0) != p + PAGE); /* a hint that is taken */
    CHECK(map(p + 1, 1, PROT_READ, MAP_FIXED) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, (size_t)1 << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM);
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 77, 0) == MAP_FAILED && errno == EBADF);
    munmap(p, 3 * PAGE);
}

static void remapping_keeps_contents(void)
{
    char *p = map(NULL, 8, PROT_READ | PROT_WRITE, 0);
    memset(p, 'x', 8 * PAGE);
    CHECK(mremap(p, 8 * PAGE, 2 * PAGE, 0) == p && load_faults(p + 2 * PAGE) == SEGV_MAPERR);
    CHECK(mremap(p, 2 * PAGE, 6 * PAGE, 0) == p && p[2 * PAGE - 1] == 'x' && p[2 * PAGE] == 0);
    CHECK(map(p + 6 * PAGE, 1, PROT_READ, MAP_FIXED) == p + 6 * PAGE); /* now it cannot grow in place */
    CHECK(mremap(p, 6 * PAGE, 9 * PAGE, 0) == MAP_FAILED && errno == ENOMEM);
    char *q = mremap(p, 6 * PAGE, 9 * PAGE, MREMAP_MAYMOVE);
    CHECK(q != MAP_FAILED && q != p && q[0] == 'x' && q[8 * PAGE] == 0 && load_faults(p) == SEGV_MAPERR);
    char *there = map(NULL, 9, PROT_NONE, 0);
    CHECK(mremap(q, 9 * PAGE, 9 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there && there[PAGE] == 'x');
    CHECK(load_faults(q) == SEGV_MAPERR);
    CHECK(mremap(q, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
    munmap(there, 9 * PAGE);
    munmap(p + 6 * PAGE, PAGE);
}

static void files_are_shared_or_private(void)
{
    char name[] = "map-XXXXXX";
    int fd = mkstemp(name);
    char byte;
    unlink(name);
    CHECK(ftruncate(fd, 2 * PAGE) == 0);
    char *shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *second = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE);
    char *private = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    CHECK(shared != MAP_FAILED && second != MAP_FAILED && private != MAP_FAILED);
    shared[PAGE] = 's';
    CHECK(second[0] == 's' && private[PAGE] == 's');
    CHECK(pread(fd, &byte, 1, PAGE) == 1 && byte == 's');
    private[0] = 'p';
    CHECK(shared[0] == 0);
    CHECK(msync(shared, 2 * PAGE, MS_SYNC) == 0);
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 1) == MAP_FAILED && errno == EINVAL);
    munmap(shared, 2 * PAGE);
    munmap(second, PAGE);
    munmap(private, 2 * PAGE);
    close(fd);
}

static void advice_and_break(void)
{
    char *p = map(NULL, 2, PROT_READ | PROT_WRITE, 0);
    memset(p, 'x', 2 * PAGE);
    CHECK(madvise(p, PAGE, MADV_DONTNEED) == 0 && p[0] == 0 && p[PAGE] == 'x');
    CHECK(madvise(p, PAGE, MADV_WILLNEED) == 0);
    CHECK(madvise(p + 1, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
    munmap(p, 2 * PAGE);

    char *end = sbrk(0);
    CHECK(sbrk(3 * PAGE) == end);
    end[0] = end[3 * PAGE - 1] = 'b';
    CHECK(sbrk(-3 * PAGE) == end + 3 * PAGE && sbrk(0) == end);
    CHECK(sbrk(3 * PAGE) == end && end[3 * PAGE - 1] == 0);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    anonymous_memory_is_zero_and_faults_as_protected();
    fixed_mappings_replace();
    remapping_keeps_contents();
    files_are_shared_or_private();
    advice_and_break();
    return check_result();
}
