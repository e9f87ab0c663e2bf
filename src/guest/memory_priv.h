/* The address space as the files that make it up see it: memory.c, and state_memory.c, which saves it. */
#ifndef CYCLESCOPE_GUEST_MEMORY_PRIV_H
#define CYCLESCOPE_GUEST_MEMORY_PRIV_H

#include <sys/mman.h>

#include "guest/memory.h"

#define LOWEST_ADDRESS UINT64_C(0x10000) /* Linux's usual vm.mmap_min_addr */

struct guest_memory {
    uint8_t *base;           /* host address of guest address 0 */
    struct areas areas;      /* what is mapped */
    uint64_t limit_bytes;    /* on private writable memory */
    uint64_t mmap_top;       /* addresses are chosen downwards from here */
    uint64_t brk_start, brk; /* heap */
    uint64_t losses;         /* how often pages may have become inaccessible */
    guest_code_watcher *code_watcher;
    void *code_watcher_context;
};

/* What the host's pages allow when the guest's allow `prot`. */
static inline int host_prot(int prot)
{
    if (prot & PROT_WRITE)
        return PROT_READ | PROT_WRITE;
    return prot & (PROT_READ | PROT_EXEC) ? PROT_READ : PROT_NONE;
}

#endif
