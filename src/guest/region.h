/* The host's side of a guest address space. Only this file calls the host's memory functions on the region that is
 * reserved for the guest; memory.c keeps the table of areas.
 *
 * Invariant, whenever none of these functions runs: every page of the region is mapped on the host. A page that the
 * table of areas has is the guest's, with the area's protection, sharing and offset. Every other page is reserved: a
 * private anonymous mapping without permissions. So the host never puts memory of its own there.
 *
 * A host call can fail after it has done a part of its work: mremap and, on older kernels, mmap unmap pages before they
 * refuse, and mprotect stops at the first mapping that it cannot change. After every failed call region_restore
 * compares the pages concerned with the table. It protects pages as the table says. It reserves pages that have
 * disappeared, or are not what the table says, and removes them from the table. If the host refuses that as well, the
 * process ends with a message: it never goes on with a page that nobody owns.
 *
 * Functions that return int64_t return 0 when the pages are as the caller asked, and the caller updates the table; or a
 * negative errno when the table is valid as it is: pages have not changed, except that some may have been lost. */
#ifndef CYCLESCOPE_GUEST_REGION_H
#define CYCLESCOPE_GUEST_REGION_H

#include "guest/memory_priv.h"

/* Reserves the region and sets `m->base`. False, with errno, if the host has no room. */
bool region_create(struct guest_memory *m) MUST_CHECK;
void region_destroy(struct guest_memory *m);

/* `flags` and `fd` are mmap's. `prot` is the guest's. */
int64_t region_map(struct guest_memory *m, uint64_t start, uint64_t end, int prot, int flags, int fd,
                   uint64_t offset) MUST_CHECK;
int64_t region_reserve(struct guest_memory *m, uint64_t start, uint64_t end) MUST_CHECK;
int64_t region_protect(struct guest_memory *m, uint64_t start, uint64_t end, int prot) MUST_CHECK;
/* Extends the mapping that ends at `old_end` to `new_end`. The pages between must be reserved. */
int64_t region_grow(struct guest_memory *m, uint64_t old_end, uint64_t new_end) MUST_CHECK;
/* Moves the pages [from, from_end), which are of one area, to `to`, and extends them to `to_end`. The pages [to,
 * to_end) must be reserved; then the source's pages are. The host may keep an area as several mappings, which mremap
 * refuses to move at once: they are moved one by one. */
int64_t region_move(struct guest_memory *m, uint64_t from, uint64_t from_end, uint64_t to, uint64_t to_end) MUST_CHECK;
/* Replaces [start, end) by the host's private mapping at `pages`, which is outside of the region. */
int64_t region_take(struct guest_memory *m, uint64_t start, uint64_t end, void *pages, int prot) MUST_CHECK;
int64_t region_drop(struct guest_memory *m, uint64_t start, uint64_t end) MUST_CHECK; /* MADV_DONTNEED */

/* Makes the pages and the table agree, as described above, or ends the process. */
void region_restore(struct guest_memory *m, uint64_t start, uint64_t end);

#ifdef CYCLESCOPE_SANITIZE
/* Host functions that fail by plan: before they do anything, or after a part of their work. `fault` counts calls. */
void *fault_mmap(struct region_fault *f, void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int fault_munmap(struct region_fault *f, void *at, size_t bytes);
int fault_mprotect(struct region_fault *f, void *at, size_t bytes, int prot);
void *fault_mremap(struct region_fault *f, void *at, size_t old_bytes, size_t new_bytes, int flags, void *to);
/* Reads the plan from $CYCLESCOPE_FAIL_MEMORY: SEED,ONE_IN,AFTER. One in ONE_IN calls fails, after the first AFTER. */
void fault_read_plan(struct region_fault *f);
#else
#define fault_mmap(f, ...)     mmap(__VA_ARGS__)
#define fault_munmap(f, ...)   munmap(__VA_ARGS__)
#define fault_mprotect(f, ...) mprotect(__VA_ARGS__)
#define fault_mremap(f, ...)   mremap(__VA_ARGS__)
#endif

#endif
