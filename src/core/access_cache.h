/* Pages that were found accessible, by page number. Direct-mapped. Cleared when any page may have become inaccessible.
 */
#ifndef CYCLESCOPE_CORE_ACCESS_CACHE_H
#define CYCLESCOPE_CORE_ACCESS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/memory.h"

enum { ACCESS_CACHE = 256 };

struct access_cache {
    uint64_t page[ACCESS_CACHE]; /* address / GUEST_PAGE, or UINT64_MAX */
};

/* Whether the access lies in a page that is known to be accessible. True for most accesses. */
static inline bool access_known(const struct access_cache *c, uint64_t addr, unsigned size)
{
    uint64_t page = addr / GUEST_PAGE;
    return c->page[page % ACCESS_CACHE] == page && addr % GUEST_PAGE <= GUEST_PAGE - size;
}

static inline void access_add(struct access_cache *c, uint64_t addr)
{
    c->page[addr / GUEST_PAGE % ACCESS_CACHE] = addr / GUEST_PAGE;
}

static inline void access_remove(struct access_cache *c, uint64_t addr)
{
    if (c->page[addr / GUEST_PAGE % ACCESS_CACHE] == addr / GUEST_PAGE)
        c->page[addr / GUEST_PAGE % ACCESS_CACHE] = UINT64_MAX;
}

#endif
