/* Failures of the host's memory functions, for tests of the sanitized build: see region.h. What is done half is what
 * some kernel has been seen to leave behind, or could: any part of the pages may be gone, protected or moved. */
#include "guest/region.h"

#ifdef CYCLESCOPE_SANITIZE

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void fault_read_plan(struct region_fault *f)
{
    unsigned long long seed = 0, one_in = 0, after = 0;
    const char *plan = getenv("CYCLESCOPE_FAIL_MEMORY");
    if (plan && sscanf(plan, "%llu,%llu,%llu", &seed, &one_in, &after) == 3)
        *f = (struct region_fault){.random = seed * 2 + 1, .one_in = one_in, .after = after};
}

static uint64_t draw(struct region_fault *f, uint64_t below)
{
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (f->random >> 33) % below;
}

/* Whether the next call fails; sets errno. */
static bool is_due(struct region_fault *f)
{
    static const int code[] = {ENOMEM, EFAULT, EAGAIN, EINVAL};
    if (f->one_in == 0)
        return false;
    if (f->after > 0) {
        f->after--;
        return false;
    }
    if (draw(f, f->one_in) != 0)
        return false;
    f->failed++;
    errno = code[draw(f, sizeof code / sizeof *code)];
    return true;
}

/* Draws a part of the pages: none, all, the first, the last, or some between. */
static size_t draw_part(struct region_fault *f, size_t bytes, size_t *skipped)
{
    size_t pages = bytes / GUEST_PAGE, first = 0, count = pages;
    switch (draw(f, 5)) {
    case 0: count = 0; break;
    case 1: break;
    case 2: count = draw(f, pages + 1); break;
    case 3: count = pages - (first = draw(f, pages + 1)); break;
    default: first = draw(f, pages), count = draw(f, pages - first + 1);
    }
    *skipped = first * GUEST_PAGE;
    return count * GUEST_PAGE;
}

static void unmap_part(struct region_fault *f, void *at, size_t bytes)
{
    size_t skipped, part = draw_part(f, bytes, &skipped);
    if (part > 0)
        munmap((uint8_t *)at + skipped, part);
}

void *fault_mmap(struct region_fault *f, void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    if (!is_due(f))
        return mmap(at, bytes, prot, flags, fd, offset);
    int code = errno;
    unmap_part(f, at, bytes);
    errno = code;
    return MAP_FAILED;
}

int fault_munmap(struct region_fault *f, void *at, size_t bytes)
{
    if (!is_due(f))
        return munmap(at, bytes);
    int code = errno;
    unmap_part(f, at, bytes);
    errno = code;
    return -1;
}

int fault_mprotect(struct region_fault *f, void *at, size_t bytes, int prot)
{
    if (!is_due(f))
        return mprotect(at, bytes, prot);
    int code = errno;
    size_t skipped, part = draw_part(f, bytes, &skipped);
    if (part > 0)
        (void)mprotect((uint8_t *)at + skipped, part, prot);
    errno = code;
    return -1;
}

/* Half-way: the target is unmapped; or the source's end is, as Linux up to 6.16 does; or some of the pages are moved.
 */
void *fault_mremap(struct region_fault *f, void *at, size_t old_bytes, size_t new_bytes, int flags, void *to)
{
    if (!is_due(f))
        return flags & MREMAP_FIXED ? mremap(at, old_bytes, new_bytes, flags, to)
                                    : mremap(at, old_bytes, new_bytes, flags);
    int code = errno;
    size_t skipped, part;
    if (!(flags & MREMAP_FIXED)) {
        size_t more = (draw(f, (new_bytes - old_bytes) / GUEST_PAGE + 1)) * GUEST_PAGE;
        (void)!mremap(at, old_bytes, old_bytes + more, flags);
        errno = code;
        return MAP_FAILED;
    }
    switch (draw(f, 4)) {
    case 0: break;
    case 1: unmap_part(f, to, new_bytes); break;
    case 2:
        munmap(to, new_bytes);
        unmap_part(f, at, old_bytes);
        break;
    default:
        part = draw_part(f, old_bytes, &skipped);
        if (part > 0)
            (void)!mremap((uint8_t *)at + skipped, part, part, flags, (uint8_t *)to + skipped);
    }
    errno = code;
    return MAP_FAILED;
}

#endif
