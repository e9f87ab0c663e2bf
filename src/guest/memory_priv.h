/* The structure of an address space, for memory.c, region.c, state_memory.c (checkpoints) and process_copy.c. */
#ifndef CYCLESCOPE_GUEST_MEMORY_PRIV_H
#define CYCLESCOPE_GUEST_MEMORY_PRIV_H

#include <sys/mman.h>
#include <sys/stat.h>

#include "guest/memory.h"

#define LOWEST_ADDRESS UINT64_C(0x10000) /* lowest guest address that can be mapped: Linux's usual vm.mmap_min_addr */

/* Which of the host's memory functions fail, in tests of the sanitized build. */
struct region_fault {
    uint64_t random; /* state of the generator */
    uint64_t one_in; /* one in this many calls fails; 0: none */
    uint64_t after;  /* calls that do not fail before that */
    uint64_t failed; /* calls that have failed */
};

struct guest_memory {
    uint8_t *base;                    /* host address of guest address 0 */
    struct areas areas;               /* table of mappings */
    struct region_fault fault;        /* planned failures */
    uint64_t checks;                  /* calls of guest_memory_assert */
    uint64_t checked_epoch;           /* permission epoch of the last call */
    uint64_t next_object;             /* number of the next shared anonymous object */
    dev_t memory_dev;                 /* see memory_device */
    uint64_t limit_bytes;             /* limit of the memory that the guest can write to or keep */
    guest_kept_bytes *kept_bytes;     /* see guest_limit_files; NULL: none */
    void *kept_context;               /* its first argument */
    uint64_t kept_most;               /* upper bound of its result */
    uint64_t mmap_top;                /* new mappings are placed below this address, as high as possible */
    uint64_t brk_start;               /* start of the heap, page-aligned */
    uint64_t brk;                     /* current program break */
    uint64_t permission_epoch;        /* see guest_permission_epoch */
    guest_code_watcher *code_watcher; /* NULL: none */
    void *code_watcher_context;       /* first argument of the watcher */
    uint64_t *code_marks;             /* bitmap by page number, see guest_mark_code; NULL: no page was ever marked */
    bool code_protected;              /* the host pages of marked pages are read-only */
};

void code_marks_free(struct guest_memory *m); /* for guest_memory_free */

static inline uint64_t page_round_up(uint64_t n)
{
    return (n + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
}

/* ---- memory_limit.c */

dev_t memory_device(void); /* the device of memory files (memfd); 0: unknown */
bool memory_takes(const struct guest_memory *m, const struct guest_area *a); /* whether the area is to be charged */
/* Returns the size of all charged areas outside of [start, end). */
uint64_t memory_charged_outside(const struct guest_memory *m, uint64_t start, uint64_t end);
/* Whether charged areas of `bytes` bytes and the memory files together stay below the limit. */
bool memory_fits_limit(struct guest_memory *m, uint64_t bytes) MUST_CHECK;
/* Returns the bytes of [start, end) that are not charged and would be with protection `prot`. */
uint64_t memory_new_charge(const struct guest_memory *m, uint64_t start, uint64_t end, int prot);
void memory_charge(struct guest_memory *m, uint64_t start, uint64_t end);   /* charges what is to be; all is mapped */
void memory_uncharge(struct guest_memory *m, uint64_t start, uint64_t end); /* after the pages have been dropped */

/* ---- memory.c */

/* Removes mappings from the table; the host pages are not changed. */
void memory_forget(struct guest_memory *m, uint64_t start, uint64_t end);
/* Whether the area's pages may end before the area does, so that touching them raises SIGBUS: a mapped file that became
 * shorter, or a shared anonymous mapping that was extended. */
static inline bool area_may_be_short(const struct guest_area *a)
{
    return area_has_file(a);
}

/* Returns the protection of the host pages of a guest mapping with protection `prot`. */
static inline int host_prot(int prot)
{
    if (prot & PROT_WRITE)
        return PROT_READ | PROT_WRITE;
    return prot & (PROT_READ | PROT_EXEC) ? PROT_READ : PROT_NONE;
}

#endif
