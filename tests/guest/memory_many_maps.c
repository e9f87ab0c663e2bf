/* A process that has as many mappings as it may have gets ENOMEM, and can go on with those that it has. */
#include <errno.h>
#include <sys/mman.h>

#include "check.h"

#define PAGE  4096L
#define PAGES 200000L

int main(void)
{
    char *all = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(all != MAP_FAILED);
    long page = 0;
    while (page < PAGES - 2 && mprotect(all + page * PAGE, PAGE, PROT_NONE) == 0)
        page += 2;
    CHECK(page < PAGES - 2 && errno == ENOMEM);
    CHECK(munmap(all + (PAGES - 2) * PAGE, PAGE) == 0 || errno == ENOMEM);
    CHECK(all[PAGE] == 0 && all[(PAGES - 1) * PAGE] == 0);
    CHECK(munmap(all, PAGES * PAGE) == 0);
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    return check_result();
}
