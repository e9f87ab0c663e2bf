/* What Linux says and qemu does not: MAP_FIXED_NOREPLACE takes a free place and refuses any other; MADV_DONTNEED over
 * a hole drops what is mapped on both sides of it. */
/* not for qemu: 7.2 replaces in the one case and refuses in the other. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

enum { PAGE = 4096 };

static void noreplace(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p[PAGE] = 'x';
    CHECK(mmap(p + PAGE, PAGE, PROT_READ, flags, -1, 0) == MAP_FAILED && errno == EEXIST && p[PAGE] == 'x');
    CHECK(munmap(p + PAGE, PAGE) == 0);
    CHECK(mmap(p, 2 * PAGE, PROT_READ, flags, -1, 0) == MAP_FAILED && errno == EEXIST);
    CHECK(mmap(p + PAGE, PAGE, PROT_READ, flags, -1, 0) == p + PAGE && p[PAGE] == 0);
}

static void advice_over_a_hole(void)
{
    char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 'x', 3 * PAGE);
    munmap(p + PAGE, PAGE);
    CHECK(madvise(p, 3 * PAGE, MADV_DONTNEED) == -1 && errno == ENOMEM && p[0] == 0 && p[2 * PAGE] == 0);
}

int main(void)
{
    noreplace();
    advice_over_a_hole();
    return check_result();
}
