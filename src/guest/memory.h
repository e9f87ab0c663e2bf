/* The address space of one guest process.
 *
 * 38 bits of addresses (the user half of Sv39) in one reserved region of host memory: guest address A is host
 * address base + A, so a guest load is a host load. The host's page protection is the guest's: an access that the
 * guest may not make raises a host fault inside the region. Guest code is data to the host and never executable.
 * Mappings are known here as well, for /proc/self/maps, for checking system-call arguments and for instruction fetch.
 *
 * Invariants: areas are sorted, disjoint, page-aligned and end at or below GUEST_SPACE; an area's protection is
 * what the host pages have. Addresses are chosen by a fixed rule, so they repeat from run to run.
 * Limits: pages are 4 KB; a page that may only be executed can also be read. */
#ifndef CYCLESCOPE_GUEST_MEMORY_H
#define CYCLESCOPE_GUEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/areas.h"

#define GUEST_PAGE      4096u
#define GUEST_SPACE     (UINT64_C(1) << 38)
#define GUEST_STACK_TOP (GUEST_SPACE - GUEST_PAGE) /* Linux keeps the last page free, too */

struct guest_memory;

/* `limit_bytes` bounds what private writable mappings may add up to; beyond it mappings fail with ENOMEM. */
struct guest_memory *guest_memory_new(uint64_t limit_bytes, struct error *err) MUST_CHECK;
void guest_memory_free(struct guest_memory *m);
void guest_memory_clear(struct guest_memory *m); /* unmaps everything, for exec */

uint8_t *guest_memory_base(const struct guest_memory *m);

/* System calls on memory: Linux's arguments (guest PROT_ and MAP_ values, which are the host's on x86-64 and
 * riscv64 alike), the guest's view of addresses; they return a guest address or 0, or a negative errno.
 * `name` is what /proc/self/maps shows and may be NULL; `fd` is a host descriptor. */
int64_t guest_mmap(struct guest_memory *m, uint64_t addr, uint64_t length, int prot, int flags, int fd, uint64_t offset,
                   const char *name);
int64_t guest_munmap(struct guest_memory *m, uint64_t addr, uint64_t length);
int64_t guest_mprotect(struct guest_memory *m, uint64_t addr, uint64_t length, int prot);
int64_t guest_mremap(struct guest_memory *m, uint64_t addr, uint64_t old_length, uint64_t new_length, int flags,
                     uint64_t new_addr);
int64_t guest_madvise(struct guest_memory *m, uint64_t addr, uint64_t length, int advice);
int64_t guest_msync(struct guest_memory *m, uint64_t addr, uint64_t length, int flags);
void guest_set_brk(struct guest_memory *m, uint64_t start); /* where the heap begins, from the loader */
int64_t guest_brk(struct guest_memory *m, uint64_t addr);   /* the new break, or the old one if it cannot be */

/* Access by the emulator on the guest's behalf. `prot` is the PROT_ bits that every page must have. */
void *guest_ptr(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot); /* NULL if it may not */
/* Whether the mappings allow it: then guest_ptr gives NULL only where a mapped file ends before its mapping does. */
bool guest_may_access(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot);
/* Changes whenever an access that was allowed may no longer be: for who remembers what is. What another process
 * does to a file is not noticed. */
uint64_t guest_losses(const struct guest_memory *m);
void guest_file_shrinks(struct guest_memory *m); /* one that may be mapped */
int guest_copy_in(const struct guest_memory *m, void *to, uint64_t from, uint64_t length) MUST_CHECK;  /* 0, -EFAULT */
int guest_copy_out(struct guest_memory *m, uint64_t to, const void *from, uint64_t length) MUST_CHECK; /* 0, -EFAULT */
/* Copies a string with its zero; its length, or -EFAULT, or -ENAMETOOLONG if it does not fit. */
int64_t guest_copy_string(const struct guest_memory *m, char *to, size_t size, uint64_t from) MUST_CHECK;

/* Maps the stack, [top - size, top), all of it at once: pages come into being when they are touched, and what lies
 * below stays free. Mappings are then chosen below it. 0 or a negative errno. */
int64_t guest_map_stack(struct guest_memory *m, uint64_t top, uint64_t size);

/* Code in [start, end) may have changed: executable pages were unmapped, replaced or reprotected, or the guest said so
 * (fence.i, riscv_flush_icache). The watcher, an engine that keeps decoded code, hears of it at once. */
typedef void guest_code_watcher(void *context, uint64_t start, uint64_t end);
void guest_watch_code(struct guest_memory *m, guest_code_watcher *changed, void *context);
void guest_code_changed(struct guest_memory *m, uint64_t start, uint64_t end);

/* The lowest area that ends above `addr`, or NULL. */
const struct guest_area *guest_area_at_or_above(const struct guest_memory *m, uint64_t addr);
uint64_t guest_resident_bytes(const struct guest_memory *m); /* upper bound: what is mapped and not PROT_NONE */

#endif
