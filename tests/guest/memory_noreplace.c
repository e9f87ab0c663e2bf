/* MAP_FIXED_NOREPLACE takes a free place and refuses any other. */
/* not for qemu: 7.2 does not know the flag and replaces. */
#include <errno.h>
#include <sys/mman.h>

#include "check.h"

int main(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p[4096] = 'x';
    CHECK(mmap(p + 4096, 4096, PROT_READ, flags, -1, 0) == MAP_FAILED && errno == EEXIST && p[4096] == 'x');
    CHECK(munmap(p + 4096, 4096) == 0);
    CHECK(mmap(p, 2 * 4096, PROT_READ, flags, -1, 0) == MAP_FAILED && errno == EEXIST);
    CHECK(mmap(p + 4096, 4096, PROT_READ, flags, -1, 0) == p + 4096 && p[4096] == 0);
    return check_result();
}
