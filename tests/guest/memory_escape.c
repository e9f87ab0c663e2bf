/* A call on two mappings that are not one fails, or does what it says; it never leaves addresses that are the guest's
 * for the guest and free for the host. Linux up to 6.16 cuts the source of such an mremap before it refuses the call.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

#define PAGE   4096L
#define BYTES  (16L << 20)
#define SPLITS 5000L

static sigjmp_buf back;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* Whether the page faults or holds `word`, which was written to its start, and else zeros. */
static int is_gone_or_old(const volatile uint64_t *page, uint64_t word)
{
    if (sigsetjmp(back, 1) != 0)
        return 1;
    return page[0] == word && page[1] == 0 && page[PAGE / 16] == 0 && page[PAGE / 8 - 1] == 0;
}

/* Makes many small areas for a while, so that the table that an emulator keeps of them becomes large. */
static void split_many(void)
{
    char *p = mmap(NULL, 2 * SPLITS * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    long done = 0;
    CHECK(p != MAP_FAILED);
    while (done < SPLITS && mprotect(p + 2 * done * PAGE, PAGE, PROT_NONE) == 0)
        done++;
    CHECK(done == SPLITS && munmap(p, 2 * SPLITS * PAGE) == 0);
}

static void try_with(int flags)
{
    const int fixed = flags | MAP_ANONYMOUS | MAP_FIXED;
    char *p = mmap(NULL, 2 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED);
    char *there = p + BYTES + PAGE;
    CHECK(mmap(p, PAGE, PROT_READ | PROT_WRITE, fixed, -1, 0) == p);
    CHECK(mmap(p + PAGE, BYTES - PAGE, PROT_READ | PROT_WRITE, fixed, -1, 0) == p + PAGE);
    for (long i = 0; i < BYTES; i += PAGE)
        *(uint64_t *)(p + i) = (uint64_t)i + 1;
    int moved = mremap(p, BYTES, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, there) != MAP_FAILED;
    split_many();
    long others = 0;
    for (long i = 0; i < BYTES; i += PAGE)
        others += !is_gone_or_old((uint64_t *)(p + i), (uint64_t)i + 1);
    CHECK(others == 0);
    for (long i = 0; moved && i < 2 * PAGE; i += PAGE)
        CHECK(*(uint64_t *)(there + i) == (uint64_t)i + 1);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    try_with(MAP_SHARED);
    try_with(MAP_PRIVATE);
    return check_result();
}
