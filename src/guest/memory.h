/* The address space of one guest process.
 *
 * Guest addresses have 38 bits (the user half of Sv39) and lie in one reserved region of host memory. Guest address A
 * is host address base + A, so a guest load is a host load. The host's pages have the guest's protection, so an access
 * that the guest may not make raises a host fault inside the region. Guest code is data to the host and never
 * executable. A table of mappings (areas.h) serves /proc/self/maps, checks of system-call arguments, and instruction
 * fetch.
 *
 * Invariants: areas are sorted, disjoint, page-aligned and end at or below GUEST_SPACE. Every page of the region is
 * either in an area, and then has the area's protection on the host, or reserved, so that the host puts no memory of
 * its own there (region.h). New mappings get addresses by a fixed rule, so addresses repeat from run to run.
 *
 * The limit of memory counts what the guest can write to or keep: private mappings that are or have been writable, and
 * mappings of shared memory (anonymous, memfd) that are or have been accessible, until they are unmapped or, for
 * private memory that is not writable, dropped (MADV_DONTNEED); and the contents of open memfds. Limits: pages are 4
 * KB. A page that is only executable can also be read. The limit is of one process; a memfd that is only in flight in a
 * socket is not counted. */
#ifndef CYCLESCOPE_GUEST_MEMORY_H
#define CYCLESCOPE_GUEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/areas.h"

#define GUEST_PAGE      4096u
#define GUEST_SPACE     (UINT64_C(1) << 38)
#define GUEST_STACK_TOP (GUEST_SPACE - GUEST_PAGE) /* the last page stays free, as in Linux */

struct guest_memory;

/* Reserves an empty address space. `limit_bytes` is the limit of memory; mappings beyond it fail with -ENOMEM. NULL
 * with a message in `err` if it fails. */
struct guest_memory *guest_memory_new(uint64_t limit_bytes, struct error *err) MUST_CHECK;
void guest_memory_free(struct guest_memory *m);
/* Sets a function that returns the bytes of memory files (memfd) that the guest has open, without those in areas that
 * are charged. They count against the limit. */
typedef uint64_t guest_kept_bytes(void *context);
void guest_limit_files(struct guest_memory *m, guest_kept_bytes *kept_bytes, void *context);
/* Whether memory files may grow by `bytes`. The caller lets them grow if so. */
bool guest_may_keep(struct guest_memory *m, uint64_t bytes) MUST_CHECK;
void guest_keeps_unknown(struct guest_memory *m); /* the guest has opened a memory file that others may have filled */
uint64_t guest_memory_limit(const struct guest_memory *m);
/* Compares the table of areas with the host's mappings. 0, or -EIO with a message in `err` that names the difference.
 */
int guest_memory_check(const struct guest_memory *m, struct error *err) MUST_CHECK;
/* In the sanitized build: abort if the check fails. Large tables are checked less often. The second function does
 * nothing if the permission epoch is that of the last check. */
#ifdef CYCLESCOPE_SANITIZE
void guest_memory_assert(struct guest_memory *m);
void guest_memory_assert_changed(struct guest_memory *m);
#else
static inline void guest_memory_assert(struct guest_memory *m)
{
    (void)m;
}

static inline void guest_memory_assert_changed(struct guest_memory *m)
{
    (void)m;
}
#endif
void guest_memory_clear(struct guest_memory *m); /* unmaps everything, for execve */

uint8_t *guest_memory_base(const struct guest_memory *m); /* host address of guest address 0 */

/* System calls on memory. They take Linux's arguments with guest addresses, and return a guest address or 0, or a
 * negative errno. PROT_ and MAP_ values are the same on x86-64 and riscv64. `name` is what /proc/self/maps shows, or
 * NULL; it is copied. `fd` is a host descriptor. */
int64_t guest_mmap(struct guest_memory *m, uint64_t addr, uint64_t length, int prot, int flags, int fd, uint64_t offset,
                   const char *name);
int64_t guest_munmap(struct guest_memory *m, uint64_t addr, uint64_t length);
int64_t guest_mprotect(struct guest_memory *m, uint64_t addr, uint64_t length, int prot);
int64_t guest_mremap(struct guest_memory *m, uint64_t addr, uint64_t old_length, uint64_t new_length, int flags,
                     uint64_t new_addr);
int64_t guest_madvise(struct guest_memory *m, uint64_t addr, uint64_t length, int advice);
int64_t guest_msync(struct guest_memory *m, uint64_t addr, uint64_t length, int flags);
void guest_set_brk(struct guest_memory *m, uint64_t start); /* the loader sets the start of the heap */
int64_t guest_brk(struct guest_memory *m, uint64_t addr);   /* returns the new break, or the old one if it fails */

/* Access to guest memory by the emulator. `prot` holds the PROT_ bits that every page of the range must have. */

/* Returns the host address of the range, or NULL if a page lacks `prot` or lies beyond the end of its file or shared
 * object. */
void *guest_ptr(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot);
/* Returns whether all pages are mapped with `prot`. Unlike guest_ptr, ignores the end of mapped files. */
bool guest_may_access(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot);
/* Cached permissions go stale when this number changes. A caller that caches the fact that a guest access is allowed
 * (the result of guest_ptr or guest_may_access) caches this number too, and drops the cached facts when the number
 * differs. The number increases whenever pages may become inaccessible: a mapping is removed, replaced or reprotected,
 * or the guest truncates a file. It does not change when another process truncates a mapped file. */
uint64_t guest_permission_epoch(const struct guest_memory *m);
/* The guest has truncated a file, which may be mapped: starts a new permission epoch. */
void guest_file_shrinks(struct guest_memory *m);
int guest_copy_in(const struct guest_memory *m, void *to, uint64_t from, uint64_t length) MUST_CHECK;  /* 0, -EFAULT */
int guest_copy_out(struct guest_memory *m, uint64_t to, const void *from, uint64_t length) MUST_CHECK; /* 0, -EFAULT */
/* Copies a string with its terminating zero into `size` bytes. Returns its length, -EFAULT, or -ENAMETOOLONG if the
 * string does not fit. */
int64_t guest_copy_string(const struct guest_memory *m, char *to, size_t size, uint64_t from) MUST_CHECK;

/* Maps the whole stack, [top - size, top), at once; the host allocates its pages when they are touched. Other mappings
 * are placed below the stack, with a gap. Returns 0 or a negative errno. */
int64_t guest_map_stack(struct guest_memory *m, uint64_t top, uint64_t size);

/* The code watcher is called when code in [start, end) may have changed: executable pages were unmapped, replaced or
 * reprotected, a marked page is written, or the guest called riscv_flush_icache. An engine that caches decoded
 * instructions sets a watcher to drop them. There is one watcher per address space; NULL: none. Another watcher unmarks
 * all pages. */
typedef void guest_code_watcher(void *context, uint64_t start, uint64_t end);
void guest_watch_code(struct guest_memory *m, guest_code_watcher *changed, void *context);
void guest_code_changed(struct guest_memory *m, uint64_t start, uint64_t end); /* calls the watcher */

/* Code in writable pages (code_marks.c). A store to code shows at the next instruction, without fence.i. An engine that
 * has decoded code of a page marks the page, or compares the code with memory before it executes it. A store of the
 * guest, or a write of the emulator through guest_ptr or guest_copy_out, to a marked page calls the watcher first.
 * Writes through another mapping of the same memory, and those of other processes, do not: they show after fence.i or
 * riscv_flush_icache.
 *
 * `protect`: makes the host page read-only, so that stores of the guest fault. The fault handler calls
 * guest_store_to_code and repeats the store. Without it the engine calls guest_store_to_code before each store to a
 * page for which guest_holds_code is true. All marks of one watcher have the same `protect`. Pages that the guest
 * cannot write need no mark and get none. */
void guest_mark_code(struct guest_memory *m, uint64_t addr, bool protect);
bool guest_holds_code(const struct guest_memory *m, uint64_t addr); /* the page of `addr` is marked */
/* Calls the watcher for a write to [addr, addr + length), and makes protected pages there writable again and unmarks
 * them. Returns false, and does nothing, if no page there is marked. */
bool guest_store_to_code(const struct guest_memory *m, uint64_t addr, uint64_t length);
void guest_unmark_code(struct guest_memory *m, uint64_t start, uint64_t end); /* as if the whole range were written */

/* Returns the lowest area that ends above `addr`, or NULL. */
const struct guest_area *guest_area_at_or_above(const struct guest_memory *m, uint64_t addr);
/* Returns the size of all mappings that are not PROT_NONE: an upper bound of resident memory. */
uint64_t guest_resident_bytes(const struct guest_memory *m);

#endif
